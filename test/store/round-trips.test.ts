import { createHmac } from 'node:crypto';
import { describe, expect, jest, test } from '@jest/globals';
import type { ClientId, InstanceIntegrationId } from '../../generated/ids.js';
import { renameJobTitle } from '../../src/domain/platform/organization/job-titles.js';
import { createLocation, deleteLocation } from '../../src/domain/platform/organization/locations.js';
import { createRole, editRolePermissions } from '../../src/domain/platform/organization/roles.js';
import { updateUser } from '../../src/domain/platform/people/user-updates.js';
import { createUser } from '../../src/domain/platform/people/users.js';
import { onboardWorker } from '../../src/domain/platform/people/worker-changes.js';
import type { UserView } from '../../src/domain/platform/rows/people.js';
import type { Changes } from '../../src/domain/platform/unit-of-work.js';
import type { ClaimRequest } from '../../src/domain/webhooks/sending/claims/claim.js';
import { hashSecret } from '../../src/identifiers/random-secrets.js';
import { visitStore } from '../../src/store/adapters/access.js';
import { workerStore } from '../../src/store/adapters/directory.js';
import { withAuditChains } from '../../src/store/adapters/operator/audit-chains.js';
import {
  exchangeCode,
  newCode,
  rotateRefreshToken,
  signedIn,
  tokenRig,
} from '../domain/sign-on/token-rig.js';
import { type DatabaseUnderTest, databaseUnderTest, PATIENT } from '../support/databases.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../support/eventually.js';
import { type Cost, countingProxy } from '../support/postgres/counting-proxy.js';
import { NEVER, refused, sendingNode, sendingRig, succeeded } from './adapters/webhooks/sending/rig.js';

type Proxy = Awaited<ReturnType<typeof countingProxy>>;

/** Prepares an operation once, so that nothing is new to the process, and counts it. */
type Measure = (under: DatabaseUnderTest, proxy: Proxy) => Promise<Cost>;

/** Every few seconds the database asks for the time, and the proxy would count that. */
const MOST_MEASURED = 5;

/** With audit chains, as served. */
async function counted(measure: Measure): Promise<Cost> {
  for (let measured = 1; measured <= MOST_MEASURED; measured += 1) {
    const place = await under.newPlace();
    const proxy = await countingProxy(place.databaseUrl as string);
    const served = { ...place, databaseUrl: proxy.url };
    const openMigrated = async () =>
      withAuditChains(
        await under.open(served, {
          ...PATIENT,
          ...{ plansKeptMs: Number.POSITIVE_INFINITY, connectionKeptMs: LONGER_THAN_A_TEST_MS },
        }),
        () => (bytes) => createHmac('sha256', 'key').update(bytes).digest(),
      );
    try {
      const cost = await measure({ ...under, openMigrated }, proxy);
      if (!proxy.isDisturbed()) {
        return cost;
      }
    } finally {
      proxy.close();
    }
  }
  throw new Error(`Each of ${MOST_MEASURED} measurements was disturbed.`);
}

const under = databaseUnderTest('PostgreSQL');

async function settledBatch(
  { under, proxy }: { under: DatabaseUnderTest; proxy: Proxy },
  result: typeof succeeded,
): Promise<Cost> {
  const rig = await sendingRig(under);
  await rig.subscribe();
  const claimed = async () => {
    for (let count = 0; count < 8; count += 1) {
      await rig.happen();
    }
    return (await rig.claim()).deliveries.map(({ id }) => result(id));
  };
  await rig.recordOnly(...(await claimed()));
  const results = await claimed();
  return proxy.costOf(() => rig.recordOnly(...results));
}

/** As after an answer that was lost. */
async function repeatedBatch(under: DatabaseUnderTest, proxy: Proxy): Promise<Cost> {
  const rig = await sendingRig(under);
  await rig.subscribe();
  for (let count = 0; count < 8; count += 1) {
    await rig.happen();
  }
  const results = (await rig.claim()).deliveries.map(({ id }) => succeeded(id));
  await rig.recordOnly(...results);
  await rig.recordOnly(...results);
  return proxy.costOf(() => rig.recordOnly(...results));
}

async function claimOf(
  under: DatabaseUnderTest,
  proxy: Proxy,
  subscriptions: number,
  request: Partial<ClaimRequest> = {},
  begun = 3 * subscriptions,
): Promise<Cost> {
  const rig = await sendingRig(under);
  for (let count = 0; count < subscriptions; count += 1) {
    await rig.subscribe();
  }
  await rig.happen();
  await rig.claim();
  for (let count = 0; count < 3; count += 1) {
    await rig.happen();
  }
  return proxy.costOf(async () => {
    const { deliveries } = await rig.claim(request);
    expect(deliveries).toHaveLength(begun);
  });
}

/** From the wake on, of a claim that has looked in vain. */
async function wokenClaim(under: DatabaseUnderTest, proxy: Proxy, isNamed: boolean): Promise<Cost> {
  const other = await sendingRig(under);
  const rig = sendingNode(other.database, other.connection, other.clock, {}, NEVER);
  const id = await rig.subscribe();
  await other.happen();
  await rig.claim();
  const news = jest.spyOn(rig.deliveriesDue, 'news');
  const claim = rig.claim({ maxWaitMs: LONGER_THAN_A_TEST_MS });
  await eventually('a claim that waits', () => news.mock.calls.length > 0);
  await other.happen();
  return proxy.costOf(async () => {
    rig.deliveriesDue.wakeByOther(isNamed ? new Set([id]) : undefined);
    expect((await claim).deliveries).toHaveLength(1);
  });
}

async function platformWrite(
  under: DatabaseUnderTest,
  proxy: Proxy,
  write: 'create' | 'update',
): Promise<Cost> {
  const rig = await sendingRig(under);
  await rig.subscribe();
  const { clientId } = rig.connection;
  const repeatable = (key: string) => ({
    ...{ ownerId: 'tok_1', method: 'CreateUser', key, requestHash: 'hash' },
    encode: (user: UserView) => Buffer.from(JSON.stringify(user)),
    decode: (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString()) as UserView,
  });
  const create = (key: string) =>
    rig.platform.run(
      async (changes) => {
        const user = await createUser(changes, {
          ...{ clientId, email: `${key}@example.com`, firstName: 'Ada', lastName: 'Moreau' },
          withoutManager: true,
        });
        await changes.audit(
          { type: 'service_token', id: 'tok_1' },
          { type: 'user.created', subject: { type: 'user', id: 'usr_1' } },
        );
        return user;
      },
      { repeatable: repeatable(key) },
    );
  const { id } = await create('first');
  const update = () =>
    rig.platform.run(
      async (changes) => {
        const user = await updateUser(changes, { userId: id, firstName: 'Mary', updateMask: undefined });
        await changes.audit(
          { type: 'service_token', id: 'tok_1' },
          { type: 'user.updated', subject: { type: 'user', id: 'usr_1' } },
        );
        return user;
      },
      { repeatable: repeatable('update') },
    );
  return proxy.costOf(() => (write === 'create' ? create('second') : update()));
}

const MANY = 300;

/** Changes that rewrite many workers or users, in batches. The first one prepares the statements. */
async function wideChange(
  under: DatabaseUnderTest,
  proxy: Proxy,
  make: (changes: Changes, clientId: string, name: string) => Promise<(changes: Changes) => Promise<number>>,
): Promise<Cost> {
  const rig = await sendingRig(under);
  await rig.subscribe();
  const { clientId } = rig.connection;
  const [first, second] = await rig.platform.run(async (changes) => [
    await make(changes, clientId, 'first'),
    await make(changes, clientId, 'second'),
  ]);
  await rig.platform.run(first);
  return proxy.costOf(async () => {
    expect(await rig.platform.run(second)).toBe(MANY);
  });
}

function manyWorkers(
  changes: Changes,
  clientId: string,
  name: string,
  fields: { jobTitles?: string[]; locationId?: string },
): Promise<unknown> {
  return inTurn(MANY, (number) =>
    onboardWorker(changes, {
      ...{ clientId, email: `${name}.${number}@example.com`, firstName: 'Ines', lastName: 'Carver' },
      ...{ jobTitles: [], unitIds: [], ...fields },
    }),
  );
}

async function inTurn(times: number, work: (number: number) => Promise<unknown>): Promise<void> {
  for (let number = 0; number < times; number += 1) {
    await work(number);
  }
}

/**
 * A change of these numbers is a change of what the service takes behind a slow network. Of the statements,
 * four begin a transaction with its limits and one ends it.
 */
const OPERATIONS: [string, Cost, Measure][] = [
  [
    'a refresh',
    { roundTrips: 3, statements: 11 },
    async (under, proxy) => {
      const rig = await tokenRig(under);
      const refresh = (refreshToken: string) =>
        rotateRefreshToken(rig.issuer, rig.application.client, { refreshToken });
      const { refreshToken } = await refresh((await signedIn(rig)).refreshToken);
      return proxy.costOf(() => refresh(refreshToken as string));
    },
  ],
  [
    'a code exchange',
    { roundTrips: 4, statements: 13 },
    async (under, proxy) => {
      const rig = await tokenRig(under);
      await signedIn(rig);
      const { exchange } = await newCode(rig);
      return proxy.costOf(() => exchangeCode(rig.issuer, rig.application.client, exchange));
    },
  ],
  [
    'the creation of a user',
    { roundTrips: 9, statements: 21 },
    (under, proxy) => platformWrite(under, proxy, 'create'),
  ],
  [
    'the update of a user',
    { roundTrips: 7, statements: 17 },
    (under, proxy) => platformWrite(under, proxy, 'update'),
  ],
  [
    'a list of the gateway, with the check of the key',
    { roundTrips: 2, statements: 2 },
    async (under, proxy) => {
      const database = await under.openMigrated();
      const visits = visitStore(database);
      const workers = workerStore(database);
      const list = async () => {
        await visits.findClient(hashSecret('key'), 'iin_1' as InstanceIntegrationId, 'cli_1' as ClientId);
        await workers.page('cli_1', { after: undefined, limit: 100 });
      };
      await list();
      return proxy.costOf(list);
    },
  ],
  [
    'a claim for one subscription',
    { roundTrips: 3, statements: 11 },
    (under, proxy) => claimOf(under, proxy, 1),
  ],
  [
    'a claim for 16 subscriptions',
    { roundTrips: 3, statements: 11 },
    (under, proxy) => claimOf(under, proxy, 16),
  ],
  [
    'a claim for 16 subscriptions with more due than slots',
    { roundTrips: 3, statements: 11 },
    (under, proxy) => claimOf(under, proxy, 16, { freeSlots: 32, totalSlots: 32 }, 28),
  ],
  [
    'a claim that is woken',
    { roundTrips: 3, statements: 11 },
    (under, proxy) => wokenClaim(under, proxy, false),
  ],
  [
    'a claim that is woken with the names of subscriptions',
    { roundTrips: 2, statements: 10 },
    (under, proxy) => wokenClaim(under, proxy, true),
  ],
  [
    'results of successes',
    { roundTrips: 4, statements: 12 },
    (under, proxy) => settledBatch({ under, proxy }, succeeded),
  ],
  ['results that are known', { roundTrips: 5, statements: 18 }, repeatedBatch],
  [
    'results of failures',
    { roundTrips: 5, statements: 16 },
    (under, proxy) => settledBatch({ under, proxy }, refused),
  ],
  [
    `the deletion of a location of ${MANY} workers`,
    { roundTrips: 20, statements: 49 },
    (under, proxy) =>
      wideChange(under, proxy, async (changes, clientId, name) => {
        const { id } = await createLocation(changes, { clientId, name });
        await manyWorkers(changes, clientId, name, { locationId: id });
        return async (later) => (await deleteLocation(later, { locationId: id })).detachedWorkers;
      }),
  ],
  [
    `a new name for the job title of ${MANY} workers`,
    { roundTrips: 21, statements: 47 },
    (under, proxy) =>
      wideChange(under, proxy, async (changes, clientId, title) => {
        await manyWorkers(changes, clientId, title, { jobTitles: [title] });
        const renaming = { clientId, title, newTitle: `${title} of all` };
        return async (later) => (await renameJobTitle(later, renaming)).updatedWorkers;
      }),
  ],
  [
    `other permissions for a role of ${MANY} users`,
    { roundTrips: 19, statements: 44 },
    (under, proxy) =>
      wideChange(under, proxy, async (changes, clientId, name) => {
        const { id: roleId } = await createRole(changes, { clientId, name, permissions: [] });
        await inTurn(MANY, (number) => {
          const email = `${name}.${number}@example.com`;
          return createUser(changes, { clientId, email, withoutManager: true, roleId });
        });
        const edit = { roleId, permissions: ['payroll.read'], userIds: [] };
        return async (later) => (await editRolePermissions(later, edit)).repointedUsers;
      }),
  ],
];

describe('on PostgreSQL', () => {
  test.each(OPERATIONS)('%s takes %j', async (_, cost, measure) => {
    expect(await counted(measure)).toEqual(cost);
  });
});
