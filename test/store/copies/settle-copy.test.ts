import { expect, test } from '@jest/globals';
import type { AuditType } from '../../../src/domain/operator/audit-types.js';
import { auditAction } from '../../../src/store/adapters/operator/audit-events.js';
import { factsOf } from '../../../src/store/copies/copy-facts.js';
import { settleCopy } from '../../../src/store/copies/settle-copy.js';
import { suspendedIn } from '../../../src/store/copies/suspended.js';
import { validIn } from '../../../src/store/copies/valid-list.js';
import { describeEachDatabase } from '../../support/databases.js';
import { plantSubscription } from '../adapters/webhooks/sending/rig.js';
import { newConnection, plantDelivery } from '../adapters/webhooks/subscriptions/rig.js';
import { audited, insert, KNOWN, LATER, NOW, plantAll, resumeAll, rowOf, UNKNOWN } from './settle-rig.js';

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
