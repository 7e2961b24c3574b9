import { expect, test } from '@jest/globals';
import { UNMATCHED_HASH } from '../../../src/domain/credentials/passwords.js';
import { settleCopy } from '../../../src/store/copies/settle-copy.js';
import { suspendedIn } from '../../../src/store/copies/suspended.js';
import { type ValidList, validIn } from '../../../src/store/copies/valid-list.js';
import { describeEachDatabase } from '../../support/databases.js';
import { plantSilentTrigger, plantTrigger } from '../../support/planted-triggers.js';
import { plantSubscription } from '../adapters/webhooks/sending/rig.js';
import { plantAccount, plantClient, plantUser } from '../directory-rows.js';
import {
  AGAIN,
  audited,
  holdOne,
  insert,
  KNOWN,
  LATER,
  NOW,
  plantAll,
  rowOf,
  UNKNOWN,
} from './settle-rig.js';

describeEachDatabase('a restored database, by a list of what is valid', (under) => {
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
});
