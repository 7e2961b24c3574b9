import { expect, test } from '@jest/globals';
import { UNMATCHED_HASH } from '../../../src/domain/credentials/passwords.js';
import type { AuditType } from '../../../src/domain/operator/audit-types.js';
import { auditAction } from '../../../src/store/adapters/operator/audit-events.js';
import { factsOf } from '../../../src/store/copies/copy-facts.js';
import { type Settling, settleCopy } from '../../../src/store/copies/settle-copy.js';
import { resume, type Suspended, suspendedIn } from '../../../src/store/copies/suspended.js';
import { type ValidList, validIn } from '../../../src/store/copies/valid-list.js';
import type { Database } from '../../../src/store/database.js';
import type { Schema } from '../../../src/store/schema.js';
import { describeEachDatabase } from '../../support/databases.js';
import { plantSilentTrigger, plantTrigger } from '../../support/planted-triggers.js';
import { plantSubscription } from '../adapters/webhooks/sending/rig.js';
import { newConnection, plantDelivery } from '../adapters/webhooks/subscriptions/rig.js';
import { plantAccount, plantClient, plantUser } from '../directory-rows.js';
import { plantApiKey, plantServiceToken } from '../rows.js';

const NOW = 1_790_000_500_000;
const LATER = NOW + 60_000;
/** Of a second restore. */
const AGAIN = NOW + 1_000;
const ACTOR = { type: 'command', id: 'resume' };
const UNKNOWN: Settling = {
  ...{ at: NOW, valid: undefined, attributes: {} },
  ...{ keepSessions: false, keepKeys: false, sendWebhooks: false },
};
/** With a recent list. */
const KNOWN = { ...UNKNOWN, keepKeys: true };
const SECRET = { id: 'sec_1', hash: 'h', created_at: 1, expires_at: null, last_used_at: null };

/** A database with one of each credential, account and subscription. */
async function plantAll(database: Database) {
  const connection = await newConnection(database);
  const { integration_id } = await database.reader
    .selectFrom('instance_integrations')
    .select('integration_id')
    .executeTakeFirstOrThrow();
  const key = await plantApiKey(database, 'key', { integration_id });
  const token = await plantServiceToken(database, 'token', { expires_at: LATER });
  const subscription = await plantSubscription(database, {
    ...{ instance_integration_id: connection.id, instance_id: connection.instanceId },
  });
  const account = await plantAccount(database);
  const user = await plantUser(database, { client_id: connection.clientId, account_id: account.id });
  const application_id = 'app_1';
  const times = { version: 'v1', created_at: 1, updated_at: 1 };
  const until = { expires_at: LATER, revoked_at: null };
  await insert(database, 'applications', {
    ...{ id: application_id, name: 'Planner', type: 'confidential', enabled: 1, first_party: 0 },
    ...{ allowed_scopes: '[]', allowed_grant_types: '[]', require_pkce: 1, id_token_algorithm: 'ES256' },
    ...{ post_logout_redirect_uris: '[]', sign_out_ends_tokens: 0, ...times },
  });
  await insert(database, 'application_secrets', { ...SECRET, application_id });
  await insert(database, 'passwords', { account_id: account.id, hash: '$argon2id', set_at: 7 });
  await insert(database, 'sessions', {
    ...{ id: 'ses_1', token_hash: 's', began_as: null, account_id: account.id, authenticated_at: 1 },
    ...{ contexts: null, last_seen_at: 1, expires_at: LATER },
  });
  const grant = { application_id, account_id: account.id, instance_id: connection.instanceId };
  await insert(database, 'grants', {
    ...{ id: 'gra_1', ...grant, scopes: 'openid', authenticated_at: 1, session_id: 'ses_1', generation: 0 },
    ...{ rotated_at: 1, refresh_expires_at: LATER, refresh_ends_at: LATER, ...until },
  });
  await insert(database, 'consents', { ...grant, scopes: '["openid"]', given_at: 1 });
  await insert(database, 'account_links', {
    ...{ token_hash: 'l', account_id: account.id, purpose: 'reset', email_key: 'e' },
    ...{ created_at: 1, expires_at: LATER, ended_at: null },
  });
  await insert(database, 'signing_keys', {
    ...{ kid: 'kid_1', algorithm: 'ES256', public_jwk: '{}', sealed_private_key: 's', created_at: 1 },
    ...{ activates_at: 1, superseded_at: 2, retires_at: 3, retired_at: null },
  });
  await insert(database, 'deliveries', {
    ...{
      id: 'del_1',
      subscription_id: subscription,
      event_seq: 1,
      event_id: 'evt_1',
      event_type: 'user.updated',
    },
    // Of a later event than those of which tests hold deliveries.
    ...{ origin: 'EVENT', status: 'PENDING', attempts_begun: 1, next_attempt_at: 5, created_at: 100 },
  });
  return { key: key.id, token: token.id, subscription, account: account.id, user: user.id, application_id };
}

async function insert<T extends keyof Schema>(database: Database, table: T, row: object): Promise<void> {
  await database.write((writer) =>
    writer
      .insertInto(table)
      .values(row as never)
      .execute(),
  );
}

async function rowOf<T extends keyof Schema>(database: Database, table: T): Promise<Record<string, unknown>> {
  return (await database.reader.selectFrom(table).selectAll().executeTakeFirstOrThrow()) as never;
}

async function audited(database: Database): Promise<string[]> {
  const rows = await database.reader
    .selectFrom('audit_events')
    .select(['type', 'actor_id', 'subject_id'])
    .execute();
  return rows.map(({ type, actor_id, subject_id }) => `${actor_id} ${type} ${subject_id}`).sort();
}

/** A delivery that waits since an event. */
async function holdOne(database: Database, id: string, occurredAt: number, status = 'HELD') {
  const receiver = { id, instanceId: 'ins_1' };
  await plantDelivery(database, receiver as never, { status: status as never }, occurredAt);
}

/** Returns what it resumed. */
async function resumeAll(database: Database, suspended: readonly Suspended[], at: number) {
  const resumed: unknown[] = [];
  for (const each of suspended) {
    resumed.push(await resume(database, each, { actor: ACTOR, at }));
  }
  return resumed.filter((each) => each !== undefined);
}

describeEachDatabase('a restored database', (under) => {
  test('ends sessions, grants, links and signing keys, and holds webhooks', async () => {
    const database = await under.openMigrated();
    const planted = await plantAll(database);
    const settled = await settleCopy(database, UNKNOWN);
    expect(settled.ended).toEqual({ sessions: 1, grants: 1, codes: 0, links: 1, signingKeys: 1 });
    expect(settled.held).toEqual({ subscriptions: [planted.subscription], deliveries: 1, since: null });
    expect(await database.reader.selectFrom('sessions').selectAll().execute()).toEqual([]);
    expect(await rowOf(database, 'grants')).toMatchObject({ revoked_at: NOW });
    expect(await rowOf(database, 'account_links')).toMatchObject({ ended_at: NOW });
    expect(await rowOf(database, 'signing_keys')).toMatchObject({
      ...{ superseded_at: 2, retires_at: null, retired_at: NOW },
    });
    expect(await rowOf(database, 'deliveries')).toMatchObject({ status: 'HELD', next_attempt_at: null });
    expect(await rowOf(database, 'subscriptions')).toMatchObject({
      ...{ status: 'DISABLED', disabled_reason: 'OPERATOR', disabled_at: NOW },
    });
  });

  test('tells the time of the oldest event whose delivery it holds', async () => {
    const database = await under.openMigrated();
    const { id, instanceId } = await newConnection(database);
    const connection = { instance_integration_id: id, instance_id: instanceId };
    const receiver = { id: await plantSubscription(database, connection), instanceId };
    for (const [status, occurredAt] of [
      ['DELIVERED', 41] as const,
      ['PENDING', 43] as const,
      ['PENDING', 42] as const,
    ]) {
      await plantDelivery(database, receiver as never, { status }, occurredAt);
    }
    expect((await settleCopy(database, UNKNOWN)).held).toMatchObject({ deliveries: 2, since: 42 });
    const resumed = await resumeAll(database, await suspendedIn(database.reader), NOW + 1);
    expect(resumed).toMatchObject([{ id: receiver.id, heldSince: 42 }]);
  });

  test('suspends keys, tokens and secrets where revocations are unknown, until an operator resumes them', async () => {
    const database = await under.openMigrated();
    const { key, token, subscription } = await plantAll(database);
    const settled = await settleCopy(database, UNKNOWN);
    expect(settled.suspended.map(({ id }) => id)).toEqual([key, token, 'sec_1']);
    expect(settled.alive).toEqual([]);
    const valid = await validIn(database.reader, NOW);
    expect([valid.apiKeys, valid.serviceTokens, valid.clientSecrets]).toEqual([{}, {}, {}]);

    const suspended = await suspendedIn(database.reader);
    expect(suspended.map(({ id }) => id)).toEqual([key, token, 'sec_1', subscription]);
    await resumeAll(database, suspended.slice(1), NOW + 1);
    expect((await suspendedIn(database.reader)).map(({ id }) => id)).toEqual([key]);
    expect(await rowOf(database, 'service_tokens')).toMatchObject({ expires_at: LATER, revoked_at: null });
    expect(await rowOf(database, 'application_secrets')).toMatchObject({ expires_at: null });
    expect(await rowOf(database, 'subscriptions')).toMatchObject({ status: 'ACTIVE', disabled_at: null });
    expect(await audited(database)).toEqual(
      [
        `restore signing_key.withdrawn kid_1`,
        `restore api_key.suspended ${key}`,
        `restore service_token.suspended ${token}`,
        'restore client_secret.suspended sec_1',
        `restore subscription.suspended ${subscription}`,
        'restore database.restored copy',
        `resume service_token.resumed ${token}`,
        'resume client_secret.resumed sec_1',
        `resume subscription.enabled ${subscription}`,
      ].sort(),
    );
  });

  test('does not resume what was revoked, or changed otherwise, after the restore', async () => {
    const database = await under.openMigrated();
    const { key } = await plantAll(database);
    await settleCopy(database, UNKNOWN);
    const before = await suspendedIn(database.reader);
    await database.write((writer) =>
      writer
        .updateTable('api_keys')
        .set({ revoked_at: NOW + 1 })
        .where('id', '=', key)
        .execute(),
    );
    await resumeAll(database, before, NOW + 2);
    expect(await rowOf(database, 'api_keys')).toMatchObject({ expires_at: NOW, revoked_at: NOW + 1 });
    expect(await suspendedIn(database.reader)).toEqual([]);
  });

  test('does not enable a subscription of a connection that is not configured', async () => {
    const database = await under.openMigrated();
    await plantAll(database);
    await settleCopy(database, KNOWN);
    const suspended = await suspendedIn(database.reader);
    const configuring = (configured_at: number | null) =>
      database.write((writer) =>
        writer.updateTable('instance_integrations').set({ configured_at }).execute(),
      );
    await configuring(null);
    expect(await resumeAll(database, suspended, NOW + 1)).toEqual([]);
    expect(await rowOf(database, 'subscriptions')).toMatchObject({ status: 'DISABLED' });
    await configuring(1);
    expect(await resumeAll(database, suspended, NOW + 2)).toHaveLength(1);
  });

  test('ends for good what a list of what is valid lacks, and lets the rest work', async () => {
    const database = await under.openMigrated();
    const planted = await plantAll(database);
    const valid = await validIn(database.reader, NOW);
    const without = async (part: Partial<ValidList>) =>
      settleCopy(database, { ...KNOWN, valid: { ...valid, ...part } });
    const settled = await without({ apiKeys: {}, clientSecrets: {}, applications: [], subscriptions: [] });
    expect(settled.revoked.map(({ id }) => id)).toEqual([planted.key, 'sec_1']);
    expect(settled.suspended).toEqual([]);
    expect(settled.alive.map(({ id }) => id)).toEqual([planted.token]);
    expect(settled.disabled).toEqual({
      ...{ applications: [planted.application_id], accounts: [], subscriptions: [planted.subscription] },
    });
    expect(settled.passwords).toEqual([]);
    expect(await rowOf(database, 'api_keys')).toMatchObject({ revoked_at: NOW });
    expect(await database.reader.selectFrom('application_secrets').selectAll().execute()).toEqual([]);
    expect(await rowOf(database, 'applications')).toMatchObject({ enabled: 0 });
    expect(await suspendedIn(database.reader)).toEqual([]);
  });

  test.each([
    ['api_keys', 'update', { apiKeys: {} }],
    ['service_tokens', 'update', { serviceTokens: {} }],
    ['application_secrets', 'delete', { clientSecrets: {} }],
    ['applications', 'update', { applications: [] }],
    ['accounts', 'update', { accounts: [] }],
    ['users', 'update', { members: [] }],
    ['passwords', 'update', { passwords: {} }],
    ['subscriptions', 'update', { subscriptions: [] }],
    ['subscription_secrets', 'update', { subscriptionSecrets: {} }],
    ['instance_integrations', 'update', { instanceIntegrations: [] }],
    ['signing_keys', 'update', { signingKeys: [] }],
    ['sessions', 'delete', {}],
    ['grants', 'update', {}],
    ['account_links', 'update', {}],
    ['consents', 'delete', {}],
  ] as const)('fails when a trigger of %s keeps what it is to end by an %s', async (table, event, part) => {
    const database = await under.openMigrated();
    await plantAll(database);
    const valid = { ...(await validIn(database.reader, NOW)), ...part } as ValidList;
    await plantSilentTrigger(database, under.kind, { table, event });
    await expect(settleCopy(database, { ...KNOWN, valid })).rejects.toThrow(
      /^The restore failed: something in the database of the backup, such as a trigger, kept what was to end \(.+\)\./,
    );
  });

  test('fails when a trigger keeps credentials from being suspended, or lets one in again behind the rest', async () => {
    const database = await under.openMigrated();
    const { key, token } = await plantAll(database);
    const when = 'new.expires_at is not null';
    await plantSilentTrigger(database, under.kind, { table: 'service_tokens', event: 'update', when });
    await expect(settleCopy(database, UNKNOWN)).rejects.toThrow(`(serviceTokens: ${token})`);
    const again = 'update api_keys set revoked_at = null';
    await plantTrigger(database, under.kind, 'after insert on audit_events', again);
    const valid = { ...(await validIn(database.reader, NOW)), apiKeys: {} };
    await expect(settleCopy(database, { ...KNOWN, valid })).rejects.toThrow(`(apiKeys: ${key})`);
  });

  test('ends for good what an earlier restore suspended and a list lacks, so that it cannot be resumed', async () => {
    const database = await under.openMigrated();
    const { key, token, subscription } = await plantAll(database);
    await settleCopy(database, UNKNOWN);
    const valid = await validIn(database.reader, AGAIN);
    const settled = await settleCopy(database, { ...KNOWN, at: AGAIN, valid });
    expect(settled.revoked.map(({ id }) => id)).toEqual([key, token, 'sec_1']);
    expect(settled.disabled.subscriptions).toEqual([subscription]);
    expect(settled.alive).toEqual([]);
    expect(await suspendedIn(database.reader)).toEqual([]);
    expect(await rowOf(database, 'api_keys')).toMatchObject({ revoked_at: AGAIN });
    expect(await rowOf(database, 'service_tokens')).toMatchObject({ revoked_at: AGAIN });
    expect(await database.reader.selectFrom('application_secrets').selectAll().execute()).toEqual([]);
    expect(await rowOf(database, 'subscriptions')).toMatchObject({ status: 'DISABLED', disabled_at: AGAIN });
    const records = await audited(database);
    expect(records).toEqual(
      expect.arrayContaining([
        `restore api_key.revoked ${key}`,
        `restore service_token.revoked ${token}`,
        'restore client_secret.revoked sec_1',
        `restore subscription.disabled ${subscription}`,
      ]),
    );
    expect(records.filter((each) => /resumed|enabled/.test(each))).toEqual([]);
  });

  test('lets what an earlier restore suspended work again, until the end that a list has', async () => {
    const database = await under.openMigrated();
    const { key, token, subscription } = await plantAll(database);
    const valid = await validIn(database.reader, NOW);
    await settleCopy(database, UNKNOWN);
    await holdOne(database, subscription, 42);
    const settled = await settleCopy(database, {
      ...{ ...KNOWN, at: AGAIN, sendWebhooks: true },
      valid: { ...valid, serviceTokens: { [token]: LATER - 1 } },
    });
    expect(settled.held).toEqual({ subscriptions: [], deliveries: 0, since: 42 });
    expect(settled.heldEarlier).toEqual([{ id: subscription, since: 42 }]);
    expect([settled.revoked, settled.disabled.subscriptions]).toEqual([[], []]);
    expect(settled.alive.map(({ id, expiresAt }) => [id, expiresAt])).toEqual([
      [key, null],
      [token, LATER - 1],
      ['sec_1', null],
    ]);
    expect(await rowOf(database, 'subscriptions')).toMatchObject({ status: 'ACTIVE', disabled_at: null });
    expect(await suspendedIn(database.reader)).toEqual([]);
    expect(await audited(database)).toEqual(
      expect.arrayContaining([
        `restore api_key.resumed ${key}`,
        `restore service_token.resumed ${token}`,
        'restore client_secret.resumed sec_1',
        `restore subscription.enabled ${subscription}`,
      ]),
    );
  });

  test('tells what an earlier restore held for the subscriptions that a list leaves enabled, and for no others', async () => {
    const database = await under.openMigrated();
    const { subscription } = await plantAll(database);
    const { instance_integration_id, instance_id } = await rowOf(database, 'subscriptions');
    const plant = () => plantSubscription(database, { instance_integration_id, instance_id } as never);
    const [unlisted, unsigned, idle] = [await plant(), await plant(), await plant()];
    const valid = await validIn(database.reader, NOW);
    expect(valid.subscriptions).toContain(idle);
    await settleCopy(database, UNKNOWN);
    for (const [index, id] of [subscription, unlisted, unsigned].entries()) {
      await holdOne(database, id, 41 + index);
    }
    const signing = await database.reader
      .selectFrom('subscription_secrets')
      .where('subscription_id', '!=', unsigned)
      .select('id')
      .execute();
    const settled = await settleCopy(database, {
      ...{ ...KNOWN, at: AGAIN, sendWebhooks: true },
      valid: {
        ...valid,
        subscriptions: valid.subscriptions.filter((id) => id !== unlisted),
        subscriptionSecrets: Object.fromEntries(signing.map(({ id }) => [id, null])),
      },
    });
    expect(settled.disabled.subscriptions.sort()).toEqual([unlisted, unsigned].sort());
    expect(settled.heldEarlier).toEqual([{ id: subscription, since: 41 }]);
  });

  test('suspends anew what an earlier restore suspended and a list has that is not recent', async () => {
    const database = await under.openMigrated();
    const { key, token, subscription } = await plantAll(database);
    const valid = await validIn(database.reader, NOW);
    await settleCopy(database, UNKNOWN);
    await holdOne(database, subscription, 42);
    await holdOne(database, subscription, 43, 'PENDING');
    const settled = await settleCopy(database, { ...UNKNOWN, at: AGAIN, valid });
    expect(settled.suspended.map(({ id }) => id)).toEqual([key, token, 'sec_1']);
    expect(settled.held).toEqual({ subscriptions: [subscription], deliveries: 1, since: 42 });
    const suspended = await suspendedIn(database.reader);
    expect(suspended.map(({ id, since, expiresAt }) => [id, since, expiresAt])).toEqual([
      [key, AGAIN, null],
      [token, AGAIN, LATER],
      ['sec_1', AGAIN, null],
      [subscription, AGAIN, null],
    ]);
  });

  test('leaves suspended what an earlier restore suspended, where revocations are unknown', async () => {
    const database = await under.openMigrated();
    const { subscription } = await plantAll(database);
    await holdOne(database, subscription, 42, 'PENDING');
    await settleCopy(database, UNKNOWN);
    const before = await suspendedIn(database.reader);
    expect(before).toHaveLength(4);
    const settled = await settleCopy(database, { ...UNKNOWN, at: AGAIN });
    expect([settled.revoked, settled.suspended, settled.alive]).toEqual([[], [], []]);
    expect(settled.suspendedEarlier).toEqual(before);
    expect(settled.held).toEqual({ subscriptions: [], deliveries: 0, since: 42 });
    expect(await suspendedIn(database.reader)).toEqual(before);
  });

  test('gives keys, tokens and secrets the end that a list has, if it is earlier', async () => {
    const database = await under.openMigrated();
    const { key, token } = await plantAll(database);
    const valid = await validIn(database.reader, NOW);
    expect(valid.serviceTokens).toEqual({ [token]: LATER });
    const settled = await settleCopy(database, {
      ...KNOWN,
      valid: {
        ...valid,
        apiKeys: { [key]: LATER },
        serviceTokens: { [token]: LATER + 1 },
        clientSecrets: { sec_1: NOW - 1 },
      },
    });
    expect(settled.shortened.map(({ id, expiresAt }) => [id, expiresAt])).toEqual([
      [key, LATER],
      ['sec_1', NOW - 1],
    ]);
    expect([settled.revoked, settled.alive.map(({ id }) => id)]).toEqual([[], [key, token]]);
    expect(await rowOf(database, 'api_keys')).toMatchObject({ expires_at: LATER, revoked_at: null });
    expect(await rowOf(database, 'service_tokens')).toMatchObject({ expires_at: LATER });
    expect(await rowOf(database, 'application_secrets')).toMatchObject({ expires_at: NOW - 1 });
    expect(await audited(database)).toEqual(
      expect.arrayContaining([`restore api_key.shortened ${key}`, 'restore client_secret.shortened sec_1']),
    );
  });

  test('takes from connections, applications and webhooks what a list does not show', async () => {
    const database = await under.openMigrated();
    const { application_id, subscription } = await plantAll(database);
    const valid = await validIn(database.reader, NOW);
    const [connection] = valid.instanceIntegrations;
    const [instance_id, other] = (
      await database.reader.selectFrom('instances').select('id').orderBy('id').execute()
    ).map(({ id }) => id);
    for (const uri of ['https://kept.example', 'https://leaks.example']) {
      await insert(database, 'application_redirect_uris', { application_id, uri, instance_id, position: 1 });
    }
    await database.write((writer) =>
      writer
        .updateTable('applications')
        .set({ allowed_scopes: '["openid","email"]', allowed_grant_types: '["authorization_code"]' })
        .execute(),
    );
    const [secret] = Object.keys(valid.subscriptionSecrets);
    expect([connection, secret, other]).toEqual([expect.any(String), expect.any(String), undefined]);
    const settled = await settleCopy(database, {
      ...KNOWN,
      ...{ sendWebhooks: true },
      valid: {
        ...{ ...valid, instanceIntegrations: [], subscriptionSecrets: {} },
        redirectUris: { [application_id]: [`${instance_id} https://kept.example`] },
        ...{ scopes: { [application_id]: ['openid', 'profile'] }, grantTypes: {} },
      },
    });
    expect(settled).toMatchObject({ unconfigured: [connection], narrowed: [application_id] });
    expect(await rowOf(database, 'instance_integrations')).toMatchObject({ configured_at: null });
    const uris = await database.reader.selectFrom('application_redirect_uris').select('uri').execute();
    expect(uris).toEqual([{ uri: 'https://kept.example' }]);
    expect(await rowOf(database, 'applications')).toMatchObject({
      ...{ enabled: 1, allowed_scopes: '["openid"]', allowed_grant_types: '[]' },
    });
    expect(settled.disabled.subscriptions).toEqual([subscription]);
    expect(await rowOf(database, 'subscription_secrets')).toMatchObject({ expires_at: NOW });
    // Even with `sendWebhooks`: the disabled subscription would never send its pending deliveries.
    expect(settled.held).toEqual({ subscriptions: [], deliveries: 1, since: null });
    expect(await rowOf(database, 'deliveries')).toMatchObject({ status: 'HELD' });
    expect(await suspendedIn(database.reader)).toEqual([]);
  });

  test('records which secret of a subscription a list ends, also where another one goes on signing', async () => {
    const database = await under.openMigrated();
    const { subscription } = await plantAll(database);
    const valid = await validIn(database.reader, NOW);
    const [ended = ''] = Object.keys(valid.subscriptionSecrets);
    const row = { subscription_id: subscription, sealed: 'sealed', created_at: NOW - 1, expires_at: null };
    await insert(database, 'subscription_secrets', { id: 'whk_other', ...row });
    const settled = await settleCopy(database, {
      ...{ ...KNOWN, sendWebhooks: true },
      valid: { ...valid, subscriptionSecrets: { whk_other: null } },
    });
    expect(settled.disabled.subscriptions).toEqual([]);
    const { attributes } = await database.reader
      .selectFrom('audit_events')
      .where('type', '=', 'subscription.secret_shortened')
      .where('subject_id', '=', subscription)
      .select('attributes')
      .executeTakeFirstOrThrow();
    expect(JSON.parse(attributes)).toEqual({
      ...{ reason: 'restored', secret_id: ended, expires_at: String(NOW) },
    });
  });

  test('disables an account whose address was changed since, because links would go to the earlier one', async () => {
    const database = await under.openMigrated();
    const { account } = await plantAll(database);
    const valid = await validIn(database.reader, NOW);
    await database.write((writer) =>
      writer.updateTable('accounts').set({ email_key: 'earlier@example.com' }).execute(),
    );
    const settled = await settleCopy(database, { ...UNKNOWN, valid });
    expect(JSON.stringify(valid)).not.toContain('@');
    expect([settled.disabled.accounts, settled.passwords]).toEqual([[account], []]);
  });

  test('ends what a person was at one client, and the account only where nothing else is left', async () => {
    const database = await under.openMigrated();
    const { user, account } = await plantAll(database);
    const elsewhere = await plantUser(database, {
      ...{ account_id: account as never, client_id: (await plantClient(database)).id },
    });
    const invited = await plantUser(database, {
      ...{ account_id: account as never, client_id: (await plantClient(database)).id, status: 'INVITED' },
    });
    const valid = await validIn(database.reader, NOW);
    const settled = await settleCopy(database, { ...UNKNOWN, valid: { ...valid, members: [elsewhere.id] } });
    expect([settled.disabled.accounts, new Set(settled.memberships)]).toEqual([
      [],
      new Set([user, invited.id]),
    ]);
    const statuses = await database.reader.selectFrom('users').select(['id', 'status']).execute();
    expect(new Map(statuses.map(({ id, status }) => [id, status]))).toEqual(
      new Map([
        [user, 'INACTIVE'],
        [elsewhere.id, 'ACTIVE'],
        [invited.id, 'DELETED'],
      ]),
    );
    expect(await audited(database)).toContain(`restore user.ended ${user}`);
  });

  test('lets no person in by an earlier password, or who was disabled or has left since', async () => {
    const database = await under.openMigrated();
    const { account } = await plantAll(database);
    const valid = await validIn(database.reader, NOW);
    const settling = { ...UNKNOWN, valid: { ...valid, members: [], passwords: { [account]: 8 } } };
    const settled = await settleCopy(database, settling);
    expect([settled.disabled.accounts, settled.passwords]).toEqual([[account], [account]]);
    expect(await rowOf(database, 'accounts')).toMatchObject({ disabled_at: NOW });
    expect(await rowOf(database, 'passwords')).toEqual({
      ...{ account_id: account, hash: UNMATCHED_HASH, set_at: NOW },
    });
  });

  test('counts a person who set the first password after the copy as one with a password', async () => {
    const database = await under.openMigrated();
    await plantAll(database);
    const { id } = await plantAccount(database);
    const valid = await validIn(database.reader, NOW);
    const settling = { ...UNKNOWN, valid: { ...valid, passwords: { ...valid.passwords, [id]: 8 } } };
    expect((await settleCopy(database, settling)).passwords).toEqual([id]);
    const row = database.reader.selectFrom('passwords').selectAll().where('account_id', '=', id);
    expect(await row.executeTakeFirst()).toMatchObject({ hash: UNMATCHED_HASH });
  });

  test('does not list a password that a restore removed, and a second restore with that list does not remove it again', async () => {
    const database = await under.openMigrated();
    const { account } = await plantAll(database);
    const valid = await validIn(database.reader, NOW);
    expect(valid.passwords).toEqual({ [account]: 7 });
    await settleCopy(database, { ...UNKNOWN, valid: { ...valid, passwords: {} } });
    const later = await validIn(database.reader, AGAIN);
    expect(later.passwords).toEqual({});
    const again = await settleCopy(database, { ...KNOWN, at: AGAIN, valid: later });
    expect(again.passwords).toEqual([]);
    expect(await rowOf(database, 'passwords')).toMatchObject({ set_at: NOW });
  });

  test.each<[string, (account: string) => Partial<ValidList>, number]>([
    ['have a password that was changed since', (account) => ({ passwords: { [account]: 8 } }), 1],
    ['were disabled since', () => ({ accounts: [] }), 1],
    ['are as they were', () => ({}), 0],
  ])('of kept sessions, it ends those of accounts that %s', async (_, change, sessions) => {
    const database = await under.openMigrated();
    const { account } = await plantAll(database);
    const stranger = await plantAccount(database);
    await insert(database, 'sessions', {
      ...{ id: 'ses_2', token_hash: 't', began_as: null, account_id: stranger.id, authenticated_at: 1 },
      ...{ contexts: null, last_seen_at: 1, expires_at: LATER },
    });
    await insert(database, 'email_changes', {
      ...{ account_id: account, asker: 'platform', email: 'new@example.com', asked_at: 1 },
      ...{ link_hash: 'l', expires_at: LATER },
    });
    const valid = { ...(await validIn(database.reader, NOW)), ...change(account) };
    if (valid.accounts.length === 0) {
      valid.accounts.push(stranger.id);
    }
    const { ended } = await settleCopy(database, { ...UNKNOWN, keepSessions: true, valid });
    expect(ended).toEqual({ sessions, grants: sessions, codes: 0, links: 2 * sessions, signingKeys: 0 });
    const left = await database.reader.selectFrom('sessions').select('id').orderBy('id').execute();
    expect(left.map(({ id }) => id)).toEqual(sessions === 1 ? ['ses_2'] : ['ses_1', 'ses_2']);
  });

  test('suspends what is on a list that is not recent, and ends what is not', async () => {
    const database = await under.openMigrated();
    const { key, token } = await plantAll(database);
    const valid = { ...(await validIn(database.reader, NOW)), clientSecrets: {} };
    const settled = await settleCopy(database, { ...UNKNOWN, valid });
    const ids = [settled.revoked, settled.suspended, settled.alive].map((each) => each.map(({ id }) => id));
    expect(ids).toEqual([['sec_1'], [key, token], []]);
  });

  test('has changed at the time of its newest event or record, which no backup and no restore makes newer', async () => {
    const database = await under.openMigrated();
    await insert(database, 'environment', { only_row: 1, name: 'live', created_at: 5 });
    const changedAt = async (until = 1_000) => (await factsOf(database.reader, until)).changedAt;
    expect(await changedAt()).toBe(5);
    const record = (type: AuditType, actor: { type: string; id: string }, at: number) =>
      database.write((writer) =>
        auditAction(writer, at, actor, { type, subject: { type: 'database', id: 'copy' } }),
      );
    await record('api_key.revoked', { type: 'operator', id: 'restore' }, 10);
    expect(await changedAt()).toBe(10);
    await record('database.backed_up', { type: 'command', id: 'backup' }, 20);
    await settleCopy(database, UNKNOWN);
    expect(await changedAt()).toBe(10);
    const { id, instanceId } = await newConnection(database);
    const connection = { instance_integration_id: id, instance_id: instanceId };
    const receiver = { id: await plantSubscription(database, connection), instanceId };
    await plantDelivery(database, receiver as never, {}, 30);
    expect(await changedAt()).toBe(30);
    // Changes after `until` do not count, in whichever table.
    for (const [until, newest] of [
      [29, 10],
      [9, 5],
      [4, 0],
    ] as const) {
      expect(await changedAt(until)).toBe(newest);
    }
  });

  test('keeps and counts the notices that wait for the platform', async () => {
    const database = await under.openMigrated();
    const { account } = await plantAll(database);
    const notice = { kind: 'email_changed', account_id: account, email: 'a@example.com', created_at: 1 };
    await insert(database, 'account_notices', { id: 'ntc_1', ...notice });
    const { integration_id } = await rowOf(database, 'api_keys');
    await insert(database, 'integration_notices', {
      ...{ id: 'ntc_2', kind: 'failing_half', integration_id, subscription_id: 'whs_1' },
      ...{ email: 'b@example.com', failing_since: 1, disabled_from: 2, created_at: 1 },
    });
    expect((await settleCopy(database, UNKNOWN)).notices).toBe(2);
    expect(await rowOf(database, 'account_notices')).toMatchObject({ id: 'ntc_1' });
    expect(await rowOf(database, 'integration_notices')).toMatchObject({ id: 'ntc_2' });
  });

  test.each(['with', 'without'])('%s a list asks people again what they allow', async (which) => {
    const database = await under.openMigrated();
    await plantAll(database);
    const valid = which === 'with' ? await validIn(database.reader, NOW) : undefined;
    const settled = await settleCopy(database, { ...UNKNOWN, valid });
    expect(settled.consents).toBe(1);
    expect(await database.reader.selectFrom('consents').selectAll().execute()).toEqual([]);
  });

  test('keeps what it is told to keep', async () => {
    const database = await under.openMigrated();
    const planted = await plantAll(database);
    const before = await validIn(database.reader, NOW);
    const settled = await settleCopy(database, {
      ...UNKNOWN,
      ...{ keepSessions: true, keepKeys: true, sendWebhooks: true },
    });
    expect(settled.alive.map(({ id }) => id)).toEqual([planted.key, planted.token, 'sec_1']);
    expect(await validIn(database.reader, NOW)).toEqual(before);
    expect(await rowOf(database, 'grants')).toMatchObject({ revoked_at: null });
    expect(await rowOf(database, 'deliveries')).toMatchObject({ status: 'PENDING', next_attempt_at: 5 });
    expect(await audited(database)).toEqual(['restore database.restored copy']);
  });
});
