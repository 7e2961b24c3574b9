import { afterAll, describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { DeliveryStatus } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import { integration } from '../cli/typed.js';
import { withPostgres } from '../store/moves/rig.js';
import { newPostgresDatabase, type PostgresDatabase } from '../support/databases.js';
import { roleTokens } from '../support/role-tokens.js';
import { serviceProcesses } from '../support/service-process.js';
import { accept, answerWith, webhookReceivers } from '../support/webhooks/receiver.js';
import { listed } from './reading.js';
import { apps, clientIds, instanceIds } from './sign-on/demo-environment.js';
import { call } from './sign-on/environment.js';
import { WebhookEnvironment } from './webhooks/webhook-environment.js';

describe('a service whose database is moved to PostgreSQL', () => {
  const services = serviceProcesses();
  const newReceiver = webhookReceivers();
  let database: PostgresDatabase | undefined;
  const environments: WebhookEnvironment[] = [];
  afterAll(async () => {
    for (const environment of environments) {
      environment.close();
    }
    await database?.drop();
  });

  test('goes on as if nothing had happened: keys, entity tags, sessions, tokens, audit chains, webhooks, numbers', async () => {
    const before = await services.start({ env: { WEBHOOK_RETRY_DELAYS: '1h,1h' } });
    const { dataDir } = before;
    const old = new WebhookEnvironment(before, newReceiver);
    environments.push(old);
    const person = await old.newPerson({ user: [clientIds.tallowfern] });
    const browser = old.browser();
    const party = await old.party(apps.dashboard);
    const { refresh_token: refreshToken = '' } = await party.signIn(browser, person);
    const subscribed = await old.subscribe({}, answerWith(500));
    await old.newClient(instanceIds.harborlight, 'Fennimore Tea');
    const { event } = await subscribed.receiver.next();
    const { delivery } = await old.attempted(subscribed, event.id);
    const [{ key = '' } = {}] = before.demo().apiKeys;
    const list = await listed(before, key);
    const [tag, body] = [list.headers.get('etag') ?? '', await list.text()];
    const [greatest] = old.rows<{ seq: number }>('select max(seq) as seq from events');
    await before.stop();

    database = await newPostgresDatabase();
    // The ports of the earlier start are those of the issuer and of the registered applications.
    const settings = { ...before.settings, DATABASE_URL: database.url };
    const moved = await integration(['migrate-store', '--json'], settings);
    expect([moved.code, JSON.parse(moved.stdout)]).toEqual([
      0,
      expect.objectContaining({ wasComplete: false }),
    ]);
    const ofSqlite = { ...before.settings, ...roleTokens };
    const onSqlite = await services.launch({ command: 'domain', dataDir, env: ofSqlite });
    expect((await onSqlite.exited).code).toBe(78);

    const after = await services.start({ dataDir, env: settings });
    const demo = new WebhookEnvironment(after, newReceiver);
    environments.push(demo);
    const again = await listed(after, key, { 'if-none-match': tag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const read = await listed(after, key);
    expect([read.headers.get('etag'), await read.text()]).toEqual([tag, body]);

    const refreshed = await client.refreshTokenGrant(party.config, refreshToken);
    const userinfo = await client.fetchUserInfo(party.config, refreshed.access_token, person.accountId);
    expect(userinfo.email).toBe(person.email);
    const { pages } = await (await demo.party(apps.shiftwise)).tryToSignIn(browser);
    expect(pages).not.toContain('Sign in');

    const { delivery: waiting } = await demo.delivery(delivery?.id ?? '');
    expect(waiting).toEqual(delivery);
    expect(waiting?.status).toBe(DeliveryStatus.PENDING);
    subscribed.receiver.answer = accept;
    await demo.webhooks.retryDelivery({ deliveryId: delivery?.id ?? '' }, call());
    expect((await subscribed.receiver.next()).event.id).toBe(event.id);
    expect((await demo.ended(subscribed, event.id)).delivery?.status).toBe(DeliveryStatus.DELIVERED);

    await demo.newClient(instanceIds.harborlight, 'Marrow & Pike');
    const next = await withPostgres(database.url, async (pg) => {
      const { rows } = await pg.query('select min(seq) as seq from events where seq > $1', [greatest?.seq]);
      return Number(rows[0]?.seq);
    });
    expect(next).toBe((greatest?.seq ?? 0) + 1);

    const { grpcAddress, auditorToken } = after.demo();
    const verified = await integration(
      ['audit', 'verify', '--address', grpcAddress, '--token', auditorToken, '--json'],
      {},
    );
    expect([verified.code, verified.stderr]).toEqual([0, '']);
  });
});
