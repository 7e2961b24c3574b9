import { expect } from '@jest/globals';
import type { AccountId, ClientId, InstanceId } from '../../../../generated/ids.js';
import { PasswordLinkPurpose } from '../../../../generated/proto/integration/platform/v1/accounts.js';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { createApplication } from '../../../../src/domain/operator/applications.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import type { CallOptions } from '../../../../src/rpc/call-metadata.js';
import { platformService } from '../../../../src/rpc/domain-server/platform/index.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import { copyForgetting } from '../../../../src/store/adapters/platform/erasure.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { signOnUnitOfWork } from '../../../../src/store/adapters/sign-on/unit-of-work.js';
import type { Database } from '../../../../src/store/database.js';
import { OPERATOR } from '../../../store/adapters/operator/rig.js';
import { newCode, newGrant, newSession } from '../../../store/adapters/sign-on/samples.js';
import { plantSubscription } from '../../../store/adapters/webhooks/sending/rig.js';
import { plantConnection, plantIntegration } from '../../../store/rows.js';
import type { DatabaseUnderTest } from '../../../support/databases.js';
import { platformDependencies } from '../../../support/platform-dependencies.js';
import { rpcRigs, TOKENS } from '../../rig.js';

/** What a caller leaves out. */
const unset = { withoutManager: false, unitIds: [], units: [], subUnits: [], jobTitles: [], statuses: [] };

export const PERSON = {
  email: 'Zebulon.Quixworth@mail.example',
  firstName: 'Zebulon',
  lastName: 'Quixworth',
};
export const OTHER_EMAIL = 'zq@pending.example';
export const PHONE = '+45 98 76 54 32';
const HOME = {
  address1: 'Nettlewick Lane 7',
  address2: 'Attic door',
  city: 'Umberfold',
  isoCountryCode: 'DK',
  postalCode: 'DK 98-123',
  zoneCode: 'Wren-shire',
};

/** Parts of what the person is known by, too long for keys and hashes to have them by chance. */
const NEEDLES = [
  ...['zebulon', 'quixworth', 'mail.example', 'pending.example'],
  ...['98 76 54', 'nettlewick', 'attic', 'umberfold', 'dk 98-123', 'wren-shire'],
];

export type Unary = Exclude<keyof typeof methods, 'importRecords'>;

// biome-ignore lint/suspicious/noExplicitAny: each answer is looked into by its own test.
type Answer = any;

/** Returns a function that starts a platform service with its own database. Call it in a `describe`. */
export function erasureRig(under: DatabaseUnderTest) {
  const rigs = rpcRigs();

  return async () => {
    const database = await under.openMigrated();
    const ports = { forgetCopies: copyForgetting(database) };
    const unitOfWork = platformUnitOfWork(database);
    const dependencies = platformDependencies(unitOfWork, (id) => ports.forgetCopies(id));
    const rig = await rigs.start([platformService(dependencies)]);
    const client = rig.channel(TOKENS.platform).clientOf(methods);
    const call = (name: Unary, request: object): Promise<Answer> => {
      const unary = client[name] as unknown as (request: object, options: CallOptions) => Promise<Answer>;
      return unary({ ...unset, ...request }, { requestId: 'r', deadlineMs: 20_000 });
    };
    const { instance } = await call('createInstance', { name: 'Harborlight' });
    const newClient = async (name: string): Promise<ClientId> =>
      (await call('createClient', { instanceId: instance.id, name })).client.id;
    return { call, database, instanceId: instance.id as InstanceId, newClient, ports, unitOfWork };
  };
}

type Platform = Awaited<ReturnType<ReturnType<typeof erasureRig>>>;

/** A user and a worker with everything that the service stores of a person, who has left. */
export async function formerPerson({ call, database, instanceId, newClient }: Platform) {
  const clientId = await newClient('Tallowfern');
  await subscribe(database, instanceId);
  let key = 0;
  const keyed = (name: Unary, request: object) => {
    key += 1;
    return call(name, { ...request, idempotencyKey: `key ${key}` });
  };
  const { user } = await keyed('createUser', { clientId, ...PERSON, withoutManager: true });
  const { accountId, id: userId } = user;
  await keyed('updateUser', { userId, lastName: 'Quixworth-Umberfold' });
  // One who reports to the person shows the person as manager.
  const { user: report } = await keyed('createUser', { clientId, email: 'report@example.com' });
  expect(report.manager.email).toBe(PERSON.email);
  const location = (await call('createLocation', { clientId, name: 'Quay' })).location;
  const { worker } = await keyed('onboardWorker', {
    ...{ clientId, ...PERSON, phone: PHONE, address: HOME },
    ...{ jobTitles: ['Welder'], locationId: location.id },
  });
  await call('createPasswordLink', { accountId, purpose: PasswordLinkPurpose.INVITATION });
  await call('createEmailVerificationLink', { accountId });
  await keyed('setPassword', { accountId, password: 'a long enough pass phrase' });
  await keyed('updateAccount', { accountId, email: OTHER_EMAIL });
  await call('createEmailChangeLink', { wish: { $case: 'accountId', value: accountId } });
  await plantSignOn(database, { accountId, clientId, instanceId });
  await keyed('deleteUser', { userId });
  await database.write((writer) =>
    writer.updateTable('users').set({ known_email: PERSON.email }).where('id', '=', userId).execute(),
  );
  await keyed('offboardWorker', { workerId: worker.id });
  return { accountId, clientId, location, report, userId, workerId: worker.id };
}

/** The rows of every table that have something of the person in a text, plain or in base64. */
export async function foundIn({ reader }: Database): Promise<Record<string, Record<string, unknown>[]>> {
  const found: Record<string, Record<string, unknown>[]> = {};
  for (const { name } of await reader.introspection.getTables()) {
    const rows: Record<string, unknown>[] = await reader
      .selectFrom(name as 'events')
      .selectAll()
      .execute();
    const about = rows.filter((row) => Object.values(row).some(hasPerson));
    if (about.length > 0) {
      found[name] = about;
    }
  }
  return found;
}

function hasPerson(value: unknown): boolean {
  const text = String(value);
  const texts = [text, Buffer.from(text, 'base64').toString('utf8')].map((each) => each.toLowerCase());
  return NEEDLES.some((needle) => texts.some((each) => each.includes(needle)));
}

export async function changesOf({ reader }: Database) {
  const rows = await reader.selectFrom('changes').selectAll().execute();
  return Object.fromEntries(rows.map((row) => [row.entity_id, row]));
}

/** A subscription, so that there are deliveries that wait. */
async function subscribe(database: Database, instanceId: string): Promise<void> {
  const { id: integration_id } = await plantIntegration(database);
  const of = { integration_id, instance_id: instanceId };
  const { id } = await plantConnection(database, { ...of, configured_at: 1 });
  await plantSubscription(database, { instance_integration_id: id, instance_id: instanceId });
}

/** What a person leaves who has signed in. */
async function plantSignOn(
  database: Database,
  { accountId, clientId, instanceId }: { accountId: AccountId; clientId: ClientId; instanceId: InstanceId },
): Promise<void> {
  const now = Date.now();
  const creation = { name: 'Rota', type: 'public' as const, redirectUris: [], firstParty: false };
  const { application } = await inNameOf(OPERATOR, operatorUnitOfWork(database)).run((changes) =>
    createApplication(changes, 'demo', creation),
  );
  await signOnUnitOfWork(database).run(async (changes) => {
    await changes.codes.insert(newCode(accountId, now));
    await changes.grants.insert(newGrant(accountId, now));
    await changes.sessions.insert(newSession(now, { account: { id: accountId, authenticatedAt: now } }));
    const key = { accountId, applicationId: application.id, instanceId };
    await changes.consents.give(key, ['openid'], now);
    const context = { userType: 'USER', clientId } as const;
    await changes.loginContexts.remember(accountId, instanceId, context, now);
    await changes.notices.insert({
      ...{ id: 'ntc_1', accountId, kind: 'email_changed', email: PERSON.email, createdAt: now },
    });
  });
}
