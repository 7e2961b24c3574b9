import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { PasswordLinkPurpose } from '../../../../generated/proto/integration/platform/v1/accounts.js';
import type { ImportRecordsRequest } from '../../../../generated/proto/integration/platform/v1/import.js';
import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import type { AuditMac } from '../../../../src/domain/operator/audit-chain.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import type { CallOptions } from '../../../../src/rpc/call-metadata.js';
import { platformService } from '../../../../src/rpc/domain-server/platform/index.js';
import type { PlatformDependencies } from '../../../../src/rpc/domain-server/platform/write.js';
import type { CallContext } from '../../../../src/rpc/handlers.js';
import { withAuditChains } from '../../../../src/store/adapters/operator/audit-chains.js';
import { auditRows } from '../../../../src/store/adapters/operator/audit-events.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { inStatus } from '../../../store/adapters/platform/people.js';
import { plantIntegration } from '../../../store/rows.js';
import { type DatabaseUnderTest, describeEachDatabase } from '../../../support/databases.js';
import { platformDependencies, quickHasher } from '../../../support/platform-dependencies.js';
import { signalled } from '../../../support/signalled.js';
import { refusalOf, rpcRigs } from '../../rig.js';

/** What a caller leaves out. */
const unset = {
  withoutManager: false,
  permissions: [],
  userIds: [],
  unitIds: [],
  units: [],
  subUnits: [],
  jobTitles: [],
  statuses: [],
};

/** Values that no record may hold, too long to be in a random id by chance. */
const PERSONAL = [
  'ada@example.com',
  'new@example.com',
  'wes@example.com',
  'Adalind',
  'Moreau',
  'Wessel',
  '+4512345678',
  'Aarhus',
  'Odense',
];

// biome-ignore lint/suspicious/noExplicitAny: each answer is looked into by its own step.
type Answer = any;

describeEachDatabase('the audit log of platform writes', (under) => {
  const rigs = rpcRigs();

  test('every writing method leaves one record: actor, on-behalf-of, action, subject, and names of fields', async () => {
    const { call, records, allRecords, database } = await platformOf(under, rigs);
    const done = new Set<string>();
    /** Calls the method, whose one record has this type, names these fields, and is about this kind. */
    const step = async (
      name: keyof typeof methods,
      request: object,
      type: string,
      fields?: string,
      subject = type.split('.')[0],
    ): Promise<Answer> => {
      const answer = await call(name, request, { onBehalfOf: 'admin-7' });
      done.add(name);
      const found = await records();
      expect({ name, found }).toEqual({
        name,
        found: [
          expect.objectContaining({
            type,
            outcome: 'succeeded',
            actor: { type: 'service_token', id: 'tok_one' },
            requestId: 'request-1',
            attributes: expect.objectContaining({ on_behalf_of: 'admin-7', ...(fields && { fields }) }),
          }),
        ],
      });
      expect(found[0]?.subject?.type).toBe(subject);
      // Roles have no public id.
      expect(found[0]?.subject?.id).toMatch(subject === 'role' ? /^\w{22}$/ : /^[a-z]{2,4}_\w+$/);
      return answer;
    };
    const { instance } = await step('createInstance', { name: 'Harborlight' }, 'instance.created', 'name');
    await step('updateInstance', { instanceId: instance.id, name: 'Other' }, 'instance.updated', 'name');
    const { client } = await step(
      'createClient',
      { instanceId: instance.id, name: 'Tallowfern' },
      'client.created',
    );
    const clientId = client.id;
    await step('updateClient', { clientId, name: 'Renamed' }, 'client.updated', 'name');
    const { user } = await step(
      'createUser',
      { clientId, email: 'ada@example.com', firstName: 'Adalind' },
      'user.created',
    );
    const { id: userId, accountId } = user;
    await step('updateUser', { userId, lastName: 'Moreau' }, 'user.updated', 'last_name');
    await call('setPassword', { accountId, password: 'a long enough pass phrase' });
    await inStatus({ database }, { id: userId }, 'ACTIVE');
    await records();
    await step('updateUser', { userId, email: 'new@example.com' }, 'user.updated', 'email_change');
    const { role } = await step(
      'createRole',
      { clientId, name: 'Planner', permissions: ['a'] },
      'role.created',
      'built_in client_id name permissions',
    );
    const edited = await step(
      'editRolePermissions',
      { roleId: role.id, permissions: ['b'] },
      'role.permissions_edited',
    );
    await step('deleteRole', { roleId: edited.role.id }, 'role.deleted');
    const { unitType } = await step(
      'createUnitType',
      { clientId, name: 'Team' },
      'unit_type.created',
      'client_id name',
    );
    const unitTypeId = unitType.id;
    await step('updateUnitType', { unitTypeId, name: 'Squad' }, 'unit_type.updated', 'name');
    const { unit } = await step('createUnit', { unitTypeId, name: 'North' }, 'unit.created');
    await step('updateUnit', { unitId: unit.id, description: 'Up there' }, 'unit.updated', 'description');
    const { location } = await step(
      'createLocation',
      { clientId, name: 'Pier', address: { city: 'Aarhus' } },
      'location.created',
      'address client_id name',
    );
    await step(
      'updateLocation',
      { locationId: location.id, name: 'Quay', address: { city: 'Odense' } },
      'location.updated',
      'address name',
    );
    await step('addJobTitle', { clientId, title: 'Diver' }, 'job_title.added', 'job_title', 'client');
    await step(
      'renameJobTitle',
      { clientId, title: 'Diver', newTitle: 'Welder' },
      'job_title.renamed',
      'job_title',
      'client',
    );
    await step('removeJobTitle', { clientId, title: 'Welder' }, 'job_title.removed', 'job_title', 'client');
    const { worker } = await step(
      'onboardWorker',
      { clientId, email: 'wes@example.com', firstName: 'Wessel', lastName: 'Moreau' },
      'worker.onboarded',
    );
    const workerId = worker.id;
    await step(
      'updateWorker',
      { workerId, phone: '+4512345678', updateMask: ['phone'] },
      'worker.updated',
      'phone',
    );
    await step(
      'assignWorkerUnits',
      { workerId, unitIds: [unit.id], primaryUnitId: unit.id },
      'worker.units_assigned',
    );
    await step('offboardWorker', { workerId }, 'worker.offboarded');
    await step('deleteLocation', { locationId: location.id }, 'location.deleted');
    await step('deleteUnit', { unitId: unit.id }, 'unit.deleted');
    await step('deleteUnitType', { unitTypeId }, 'unit_type.deleted');
    await step('updateAccount', { accountId, firstName: 'Adele' }, 'account.updated', 'first_name');
    await step(
      'setPassword',
      { accountId, password: 'a long enough pass phrase' },
      'password.set',
      undefined,
      'account',
    );
    await database.write((writer) =>
      writer.updateTable('accounts').set({ email_verified_at: 1 }).where('id', '=', accountId).execute(),
    );
    await step(
      'createPasswordLink',
      { accountId, purpose: PasswordLinkPurpose.RESET },
      'link.created',
      undefined,
      'account',
    );
    await step('createEmailVerificationLink', { accountId }, 'link.created', undefined, 'account');
    await step(
      'createEmailChangeLink',
      { wish: { $case: 'userId', value: userId } },
      'link.created',
      undefined,
      'account',
    );
    await database.write((writer) =>
      writer
        .insertInto('account_notices')
        .values({
          ...{ id: 'ntc_1', account_id: accountId, kind: 'email_changed' },
          ...{ email: 'ada@example.com', created_at: 1 },
        })
        .execute(),
    );
    await step(
      'acknowledgeAccountNotices',
      { noticeIds: ['ntc_1'] },
      'account_notices.acknowledged',
      undefined,
      'notice',
    );
    const { id: integration_id } = await plantIntegration(database);
    await database.write((writer) =>
      writer
        .insertInto('integration_notices')
        .values({
          ...{ id: 'inc_1', kind: 'failing_half', integration_id, subscription_id: 'whs_1' },
          ...{ email: 'webhooks@example.com', failing_since: 1, disabled_from: 2, created_at: 3 },
        })
        .execute(),
    );
    await step(
      'acknowledgeIntegrationNotices',
      { noticeIds: ['inc_1'] },
      'integration_notices.acknowledged',
      undefined,
      'notice',
    );
    const application_id = 'app_1';
    await database.write((writer) =>
      writer
        .insertInto('grants')
        .values({
          ...{
            id: 'grant',
            application_id,
            account_id: accountId,
            instance_id: instance.id,
            scopes: 'openid',
          },
          ...{ authenticated_at: 1, generation: 1, rotated_at: 1, expires_at: 2 },
        })
        .execute(),
    );
    await step(
      'withdrawConsent',
      { accountId, applicationId: application_id, instanceId: instance.id },
      'consent.withdrawn',
      undefined,
      'account',
    );
    await step('disableAccount', { accountId }, 'account.disabled', 'disabled_at email_change');
    await step('enableAccount', { accountId }, 'account.enabled', 'disabled_at');
    await call('setPassword', { accountId, password: 'a long enough pass phrase' });
    await database.write((writer) =>
      writer.updateTable('users').set({ status: 'ACTIVE' }).where('id', '=', userId).execute(),
    );
    await records();
    await step('disableUser', { userId }, 'user.disabled', 'status');
    await step('enableUser', { userId }, 'user.enabled', 'status');
    await step('deleteUser', { userId }, 'user.deleted', 'status');
    await step('eraseAccount', { accountId }, 'account.erased');

    const reads = /^(get|list)[A-Z]|^importRecords$/;
    const writing = Object.keys(methods).filter((name) => !reads.test(name));
    expect([...done].sort()).toEqual(writing.sort());
    const text = JSON.stringify(await allRecords());
    expect(PERSONAL.filter((value) => text.includes(value))).toEqual([]);
  });

  test('each line of an import is recorded like the call that it stands for', async () => {
    const { call, records, platform } = await platformOf(under, rigs);
    const { instance } = await call('createInstance', { name: 'Harborlight' });
    await records();
    const parts = async function* (): AsyncGenerator<ImportRecordsRequest> {
      yield {
        part: { $case: 'options', value: { dryRun: false, stopAtFirstRefusal: false, reportIds: false } },
      };
      const client = { instanceId: instance.id, name: 'Tallowfern' };
      const lines = [{ line: 1, record: { $case: 'client' as const, value: client } }];
      yield { part: { $case: 'lines', value: { lines } } };
    };
    const context: CallContext = {
      requestId: 'request-1',
      identity: { caller: 'platform', tokenId: 'tok_one' },
      remoteAddress: undefined,
      onBehalfOf: 'admin-7',
      isCancelled: false,
      signal: new AbortController().signal,
    };
    const answers = platform.handlers.importRecords?.(parts(), context);
    for await (const answer of answers as AsyncIterable<unknown>) {
      expect(answer).toMatchObject({ refused: 0 });
    }
    expect(await records()).toEqual([
      expect.objectContaining({
        type: 'client.created',
        actor: { type: 'service_token', id: 'tok_one' },
        subject: { type: 'client', id: expect.stringMatching(/^cli_/) },
        attributes: expect.objectContaining({
          fields: expect.stringContaining('name'),
          on_behalf_of: 'admin-7',
        }),
      }),
    ]);
  });

  test('two calls under way at once each leave a record of their own token, request and person', async () => {
    const bothHash = signalled();
    let hashing = 0;
    const hash = async (password: string) => {
      hashing += 1;
      if (hashing === 2) {
        bothHash.tell();
      }
      await bothHash.told;
      return quickHasher.hash(password);
    };
    const { call, records } = await platformOf(under, rigs, { passwords: { ...quickHasher, hash } });
    const { instance } = await call('createInstance', { name: 'Harborlight' });
    const { client } = await call('createClient', { instanceId: instance.id, name: 'Tallowfern' });
    const accountOf = async (email: string): Promise<string> =>
      (await call('createUser', { clientId: client.id, email })).user.accountId;
    const calls = [
      { token: 'one', requestId: 'request-1', onBehalfOf: 'admin-7', id: await accountOf('ada@example.com') },
      { token: 'two', requestId: 'request-2', onBehalfOf: 'admin-8', id: await accountOf('wes@example.com') },
    ];
    await records();
    await Promise.all(
      calls.map(({ id, ...options }) =>
        call('setPassword', { accountId: id, password: 'a long enough pass phrase' }, options),
      ),
    );
    const found = await records();
    expect(found).toHaveLength(2);
    for (const { token, requestId, onBehalfOf, id } of calls) {
      expect(found.find(({ subject }) => subject?.id === id)).toMatchObject({
        type: 'password.set',
        actor: { type: 'service_token', id: `tok_${token}` },
        requestId,
        attributes: { on_behalf_of: onBehalfOf },
      });
    }
  });

  test('a write that changes nothing, one that is repeated and one that is refused leave none', async () => {
    const { call, records, database } = await platformOf(under, rigs);
    const { instance } = await call('createInstance', { name: 'Harborlight', idempotencyKey: 'once' });
    const { client } = await call('createClient', { instanceId: instance.id, name: 'Tallowfern' });
    const email = 'ada@example.com';
    const { user } = await call('createUser', { clientId: client.id, email });
    const deleted = await call('createUser', { clientId: client.id, email: 'wes@example.com' });
    await call('deleteUser', { userId: deleted.user.id });
    const other = await call('createClient', { instanceId: instance.id, name: 'Brambleway' });
    const shared = { email: 'moreau@example.com' };
    await call('createUser', { clientId: other.client.id, ...shared });
    const asking = await call('createUser', { clientId: client.id, ...shared });
    await inStatus({ database }, asking.user, 'ACTIVE');
    await call('updateUser', { userId: asking.user.id, email: 'new@example.com' });
    await records();
    await call('updateUser', { userId: asking.user.id, email: 'new@example.com' });
    await call('createInstance', { name: 'Harborlight', idempotencyKey: 'once' });
    await call('updateInstance', { instanceId: instance.id, name: 'Harborlight' });
    await call('updateUser', { userId: user.id, email });
    await call('updateAccount', { accountId: user.accountId, email });
    await call('deleteUser', { userId: deleted.user.id });
    await call('acknowledgeAccountNotices', { noticeIds: ['ntc_gone'] });
    await call('acknowledgeIntegrationNotices', { noticeIds: ['inc_gone'] });
    await refusalOf(call('createClient', { instanceId: instance.id, name: '' }));
    await refusalOf(call('updateInstance', { instanceId: instance.id, name: 'B', expectedVersion: 'old' }));
    expect(await records()).toEqual([]);
  });

  test('the record of acknowledged notices names those that waited, and no other id of the request', async () => {
    const { call, records, database } = await platformOf(under, rigs);
    const { id: integration_id } = await plantIntegration(database);
    await database.write((writer) =>
      writer
        .insertInto('integration_notices')
        .values(
          ['inc_1', 'inc_2', 'inc_3'].map((id) => ({
            ...{ id, kind: 'failing_half', integration_id, subscription_id: `whs_${id}` },
            ...{ email: 'webhooks@example.com', failing_since: 1, disabled_from: 2, created_at: 3 },
          })),
        )
        .execute(),
    );
    const noticeIds = ['inc_gone', '', 'x'.repeat(65), 'ada@example.com', 'inc_2', 'inc_1'];
    await call('acknowledgeIntegrationNotices', { noticeIds });
    expect(await records()).toEqual([
      expect.objectContaining({ subject: { type: 'notice', id: 'inc_1' }, attributes: { also: 'inc_2' } }),
    ]);
    await call('acknowledgeIntegrationNotices', { noticeIds });
    expect(await records()).toEqual([]);
  });

  test('the record of an edit of a role says how many users it moved, and from which role', async () => {
    const { call, records } = await platformOf(under, rigs);
    const { instance } = await call('createInstance', { name: 'Harborlight' });
    const { client } = await call('createClient', { instanceId: instance.id, name: 'Tallowfern' });
    const clientId = client.id;
    const { role } = await call('createRole', { clientId, name: 'Planner', permissions: ['a'] });
    for (const name of ['ada', 'ben']) {
      await call('createUser', { clientId, email: `${name}@example.com`, roleId: role.id });
    }
    await records();
    await call('editRolePermissions', { roleId: role.id, permissions: ['b'] });
    expect((await records())[0]?.attributes).toMatchObject({ former_role_id: role.id, users: '2' });
  });

  test('an idempotency key is that of its token: another token is not answered for it', async () => {
    const { call } = await platformOf(under, rigs);
    const request = { name: 'Harborlight', idempotencyKey: 'the same key' };
    const one = await call('createInstance', request);
    const other = await call('createInstance', request, { token: 'two' });
    expect(other.instance.id).not.toBe(one.instance.id);
    expect(await call('createInstance', request)).toEqual(one);
    expect(await call('createInstance', request, { token: 'two' })).toEqual(other);
    const reused = call('createInstance', { ...request, name: 'Other' }, { token: 'two' });
    expect((await refusalOf(reused)).code).toBe(ErrorCode.IDEMPOTENCY_KEY_REUSED);
  });

  test('a key from before keys had owners answers until it is purged, and makes nothing twice', async () => {
    const { call, database } = await platformOf(under, rigs);
    const request = { name: 'Harborlight', idempotencyKey: 'old' };
    const first = await call('createInstance', request);
    await database.write((writer) =>
      writer.updateTable('idempotency_keys').set({ owner_id: '' }).where('key', '=', 'old').execute(),
    );
    expect(await call('createInstance', request)).toEqual(first);
    expect((await call('listInstances', {})).instances).toHaveLength(1);
  });

  test('a call with an invalid on-behalf-of is refused', async () => {
    const { call, records } = await platformOf(under, rigs);
    for (const onBehalfOf of ['', 'two words', 'x'.repeat(129)]) {
      const refused = await refusalOf(call('createInstance', { name: 'Harborlight' }, { onBehalfOf }));
      expect(refused.code).toBe(ErrorCode.INVALID_REQUEST);
    }
    expect(await records()).toEqual([]);
  });
});

/** A service over a new database, called with one of two tokens. */
async function platformOf(
  under: DatabaseUnderTest,
  rigs: ReturnType<typeof rpcRigs>,
  overrides: Partial<PlatformDependencies> = {},
) {
  const bare = await under.openMigrated();
  const mac: AuditMac = (bytes) => createHmac('sha256', 'key').update(bytes).digest();
  const database = withAuditChains(bare, () => mac);
  const platform = platformService({ ...platformDependencies(platformUnitOfWork(database)), ...overrides });
  const rig = await rigs.start([platform], {
    authenticate: (token) => ({ caller: 'platform', tokenId: `tok_${token}` }),
  });
  const seen = new Set<string>();
  const allRecords = () => auditRows(bare.reader).page({ after: undefined, limit: 500 }, { types: [] });
  return {
    database: bare,
    platform,
    call: (
      name: keyof typeof methods,
      request: object,
      { token = 'one', ...options }: Partial<CallOptions> & { token?: string } = {},
    ): Promise<Answer> => {
      const client = rig.channel(token).clientOf(methods) as unknown as Record<
        string,
        (request: object, options: CallOptions) => Promise<Answer>
      >;
      const complete = { ...unset, pageSize: 0, pageToken: '', ...request };
      return client[name]?.(complete, {
        requestId: 'request-1',
        deadlineMs: 20_000,
        ...options,
      }) as Promise<Answer>;
    },
    allRecords,
    /** Those since it was asked last. */
    records: async () => {
      const fresh = (await allRecords()).filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) {
        seen.add(id);
      }
      return fresh;
    },
  };
}
