import { describe, expect, test } from '@jest/globals';
import { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import { Gatekeeper } from '../../../src/domain/access/gatekeeper.js';
import { ListSlots } from '../../../src/domain/access/list-slots.js';
import { RateLimiter } from '../../../src/domain/access/rate-limiter.js';
import type { FoundVisit } from '../../../src/domain/access/visit-store.js';
import { encodeCursor, type PageRequest } from '../../../src/domain/directory/page.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { type DirectoryDependencies, directoryService } from '../../../src/rpc/domain-server/directory.js';
import { PageTurns } from '../../../src/rpc/streams/page-turns.js';
import { eventually } from '../../support/eventually.js';
import { refusalOf, rpcRigs } from '../rig.js';

const NOW = 1_790_000_000_123;
const clock = () => NOW;
const nothing = () => undefined;
const visit: FoundVisit = {
  key: { id: 'key_1', integrationId: 'itg_1', expiresAt: null, revokedAt: null, lastUsedAt: NOW },
  version: 'now',
  instanceIntegration: { instanceId: 'ins_1', configured: true },
  client: 'cli_1',
};
const header = { version: 'now', notModified: false, integrationId: 'itg_1', apiKeyId: 'key_1' };
const bare = {
  address1: null,
  address2: null,
  city: null,
  isoCountryCode: null,
  postalCode: null,
  zoneCode: null,
};
const named = (id: string) => ({ id, name: `Name of ${id}` });

const client = {
  id: 'cli_1',
  name: 'Tallowfern',
  location: { ...bare, city: 'Portland' },
  createdAt: NOW,
} as const;
const worker = {
  ...{
    id: 'wrk_1',
    firstName: 'Maren',
    lastName: 'Okafor',
    fullName: 'Maren Okafor',
    email: 'm@example.com',
  },
  ...{ jobTitles: ['Baker'], phone: null, location: bare, createdAt: NOW },
  organizationUnits: [named('oun_1'), named('oun_2')],
  organizationUnit: named('oun_2'),
  organizationLocation: null,
} as const;
const manager = {
  id: 'usr_2',
  firstName: null,
  lastName: 'Brandt',
  fullName: null,
  email: 'b@example.com',
} as const;
const user = {
  ...{
    id: 'usr_1',
    clientId: 'cli_1',
    email: 'u@example.com',
    firstName: null,
    lastName: null,
    fullName: null,
  },
  ...{ status: 'DELETED', manager, role: named('role_1'), createdAt: NOW },
} as const;
const unit = {
  id: 'oun_1',
  name: 'Kitchen',
  description: null,
  unitTypeId: 'out_1',
  parentUnitId: null,
} as const;

describe('the directory over gRPC', () => {
  const rigs = rpcRigs();

  async function serving(over: object = {}, turns?: PageTurns) {
    const find = async () => visit;
    const visits = {
      findKey: find,
      findInstanceIntegration: find,
      findClient: find,
      markUsed: async () => undefined,
    };
    const limiter = new RateLimiter({ limit: 10, windowMs: 60_000 }, () => NOW);
    const asked: unknown[][] = [];
    const store = (content: Record<string, unknown>) =>
      Object.fromEntries(
        Object.entries(content).map(([method, answer]) => [
          method,
          async (...what: unknown[]) => {
            asked.push([method, ...what]);
            return typeof answer === 'function' ? answer(...what) : answer;
          },
        ]),
      );
    const dependencies = {
      gatekeeper: new Gatekeeper(
        visits,
        limiter,
        clock,
        nothing,
        nothing,
        new ListSlots({ perIntegration: 1, inTotal: 5 }),
      ),
      clients: store({ page: [client], find: client }),
      workers: store({ page: [worker], find: worker }),
      users: store({ page: [user], find: user }),
      organization: store({
        structureOf: { unitTypes: [named('out_1')], units: [unit], locations: [named('olo_1')] },
        jobTitlesOf: ['Baker'],
      }),
      ...Object.fromEntries(Object.entries(over).map(([name, content]) => [name, store(content)])),
    } as unknown as DirectoryDependencies;
    const rig = await rigs.start([directoryService(dependencies, turns)]);
    return { directory: rig.channel().clientOf(DirectoryServiceService), asked };
  }

  const context = { apiKeyHash: Buffer.from('hash'), knownVersions: [], anyVersionKnown: false };
  const path = { context, instanceIntegrationId: 'iin_1', clientId: 'cli_1' };
  const call = { requestId: 'r' };
  const rateLimit = { limit: 10, remaining: 9, resetSeconds: 60 };
  const userMessage = {
    ...{ userId: 'usr_1', clientId: 'cli_1', email: 'u@example.com', status: 'USER_STATUS_DELETED' },
    ...{ manager: { id: 'usr_2', lastName: 'Brandt', email: 'b@example.com' }, role: named('role_1') },
    createdAt: new Date(NOW),
  };
  const workerMessage = {
    ...{
      id: 'wrk_1',
      firstName: 'Maren',
      lastName: 'Okafor',
      fullName: 'Maren Okafor',
      email: 'm@example.com',
    },
    ...{
      jobTitles: ['Baker'],
      location: {},
      organizationUnits: worker.organizationUnits,
      organizationUnit: named('oun_2'),
    },
  };

  async function collect<T>(messages: AsyncIterable<T>): Promise<T[]> {
    const collected: T[] = [];
    for await (const message of messages) {
      collected.push(message);
    }
    return collected;
  }

  test('sends one thing with its header, and leaves out what is null', async () => {
    const { directory } = await serving();
    const sent = { header: { ...header, rateLimit } };
    expect(await directory.getClient(path, call)).toEqual({
      ...sent,
      client: { id: 'cli_1', name: 'Tallowfern', location: { city: 'Portland' } },
    });
    const standing = (remaining: number) => ({
      header: { ...header, rateLimit: { ...rateLimit, remaining } },
    });
    expect(await directory.getWorker({ ...path, workerId: 'wrk_1' }, call)).toEqual({
      ...standing(8),
      worker: workerMessage,
    });
    expect(await directory.getUser({ ...path, userId: 'usr_1' }, call)).toEqual({
      ...standing(7),
      user: userMessage,
    });
    expect(await directory.listJobTitles(path, call)).toEqual({ ...standing(6), jobTitles: ['Baker'] });
    expect(await directory.getOrganizationStructure(path, call)).toEqual({
      ...standing(5),
      organizationStructure: {
        unitTypes: [named('out_1')],
        units: [{ id: 'oun_1', name: 'Kitchen', unitTypeId: 'out_1' }],
        locations: [named('olo_1')],
      },
    });
  });

  test('sends a list as messages, the first with the header', async () => {
    const { directory } = await serving();
    const list = { ...path, withOrganization: true };
    expect(await collect(directory.listWorkers(list, call))).toEqual([
      { header: { ...header, rateLimit }, workers: [workerMessage] },
    ]);
    expect(await collect(directory.listUsers(path, call))).toMatchObject([{ users: [userMessage] }]);
    expect(await collect(directory.listClients(path, call))).toMatchObject([{ clients: [{ id: 'cli_1' }] }]);
  });

  test('sends an empty list as one message with the header', async () => {
    const { directory } = await serving({ users: { page: [] } });
    expect(await collect(directory.listUsers(path, call))).toEqual([
      { header: { ...header, rateLimit }, users: [] },
    ]);
  });

  test('sends a long list as several messages of which the first only has the header', async () => {
    const rows = Array.from({ length: 600 }, (_, index) => ({ ...user, id: `usr_${1_000 + index}` }));
    const behind = ({ after, limit }: PageRequest) =>
      rows.filter(({ id }) => !after || id > after.id).slice(0, limit);
    const { directory } = await serving({ users: { page: (_: string, page: PageRequest) => behind(page) } });
    const messages = await collect(directory.listUsers(path, call));
    expect(messages.map(({ header: sent }) => sent !== undefined)).toEqual([true, false, false]);
    expect(messages.flatMap(({ users }) => users.map(({ userId }) => userId))).toEqual(
      rows.map(({ id }) => id),
    );
    expect(messages.map(({ nextCursor }) => nextCursor)).toEqual([undefined, undefined, undefined]);

    const page = await collect(directory.listUsers({ ...path, limit: 2 }, call));
    expect(page).toMatchObject([{ nextCursor: encodeCursor({ createdAt: NOW, id: 'usr_1001' }) }]);
  });

  test('reports a list of one page as of a short call, and not of a longer one', async () => {
    const turns = new PageTurns();
    let told = 0;
    turns.shortCall = () => {
      told += 1;
    };
    const rows = Array.from({ length: 250 }, (_, index) => ({ ...user, id: `usr_${1_000 + index}` }));
    const page = (_: string, { after, limit }: PageRequest) =>
      after ? [user] : [...rows, user].slice(0, limit);
    const { directory } = await serving({ users: { page } }, turns);
    expect(await collect(directory.listUsers(path, call))).toHaveLength(2);
    expect(told).toBe(0);
    expect(await collect(directory.listWorkers({ ...path, withOrganization: false }, call))).toHaveLength(1);
    expect(told).toBe(1);
  });

  test('passes on what the path names, the limit, the cursor and whether the place is asked for', async () => {
    const { directory, asked } = await serving();
    const cursor = encodeCursor({ createdAt: 5, id: 'wrk_0' });
    await collect(directory.listWorkers({ ...path, limit: 7, cursor, withOrganization: true }, call));
    await collect(directory.listClients(path, call));
    await directory.getUser({ ...path, userId: 'usr_9' }, call);
    expect(asked).toEqual([
      ['page', 'cli_1', { after: { createdAt: 5, id: 'wrk_0' }, limit: 8 }, true],
      ['page', 'ins_1', { after: undefined, limit: 251 }],
      ['find', 'cli_1', 'usr_9'],
    ]);
  });

  test('sends to who holds the version a header that says so, and nothing else', async () => {
    const { directory, asked } = await serving();
    const known = { ...path, context: { ...context, knownVersions: ['now'] } };
    const notModified = { notModified: true };
    expect(await collect(directory.listUsers(known, call))).toMatchObject([
      { header: notModified, users: [] },
    ]);
    expect(await collect(directory.listClients(known, call))).toMatchObject([
      { header: notModified, clients: [] },
    ]);
    const workers = directory.listWorkers({ ...known, withOrganization: false }, call);
    expect(await collect(workers)).toMatchObject([{ header: notModified, workers: [] }]);
    const one = await directory.getWorker({ ...known, workerId: 'wrk_1' }, call);
    expect([one.header?.notModified, one.worker]).toEqual([true, undefined]);
    expect(asked).toEqual([]);
  });

  test('refuses a cursor that is none of ours, and a call without a context', async () => {
    const { directory } = await serving();
    const refusal = await refusalOf(collect(directory.listUsers({ ...path, cursor: 'x' }, call)));
    expect([refusal.code, refusal.fieldViolations[0]?.path]).toEqual([
      ErrorCode.INVALID_REQUEST,
      'query.cursor',
    ]);
    const without = collect(directory.listClients({ ...path, context: undefined }, call));
    expect((await refusalOf(without)).code).toBe(ErrorCode.INVALID_REQUEST);
  });

  test('refuses what does not exist, with the rate limit', async () => {
    const { directory } = await serving({ workers: { find: undefined } });
    const refusal = await refusalOf(directory.getWorker({ ...path, workerId: 'wrk_2' }, call));
    expect([refusal.code, refusal.rateLimit]).toEqual([ErrorCode.WORKER_NOT_FOUND, rateLimit]);
  });

  test('counts a list as being read until its call ends, and refuses another meanwhile', async () => {
    const endless = async (_: string, { limit }: PageRequest) =>
      Array.from({ length: limit }, () => ({ ...worker, lastName: 'x'.repeat(500) }));
    const { directory } = await serving({ workers: { page: endless } });
    const open = () =>
      directory.listWorkers({ ...path, withOrganization: false }, call)[Symbol.asyncIterator]();
    const list = open();
    await list.next();
    const refusal = await refusalOf(open().next());
    expect(refusal).toMatchObject({ code: ErrorCode.RATE_LIMITED, retryAfterSeconds: expect.any(Number) });
    expect(refusal.rateLimit).toMatchObject({ limit: 10 });
    await expect(directory.listJobTitles(path, call)).resolves.toMatchObject({ jobTitles: ['Baker'] });
    await list.return?.();
    await eventually('the slot is free', () =>
      open()
        .next()
        .catch(() => undefined),
    );
  });

  test('counts no list that is read to its end, nor one that is not modified', async () => {
    const { directory } = await serving();
    const known = { ...path, context: { ...context, knownVersions: ['now'] } };
    for (const asked of [path, known, path, known]) {
      const messages: unknown[] = [];
      for await (const message of directory.listWorkers({ ...asked, withOrganization: false }, call)) {
        messages.push(message);
      }
      expect(messages).toHaveLength(1);
    }
  });
});
