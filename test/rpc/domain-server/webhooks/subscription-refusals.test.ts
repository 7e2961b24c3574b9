import { expect, test } from '@jest/globals';
import { WebhookServiceService as methods } from '../../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { AddressGuard } from '../../../../src/delivery/address-guard.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf, TOKENS } from '../../rig.js';
import { CALL, LIST, NO_LISTS, webhookServing } from './rig.js';

describeEachDatabase('what is refused about subscriptions over gRPC', (under) => {
  const serving = webhookServing(under);

  test('every fault of a request is told at once, and the guard is not asked about it', async () => {
    const asked: string[] = [];
    const addressGuard = {
      refusalOf: async ({ href }: URL) => {
        asked.push(href);
        return undefined;
      },
    };
    const { create } = await serving({ addressGuard });
    const refused = await refusalOf(create({ eventTypes: ['nope'], description: '\u0007' }));
    expect(refused.code).toBe(ErrorCode.INVALID_REQUEST);
    expect(refused.fieldViolations.map(({ path }) => path)).toEqual(['event_types[0]', 'description']);
    expect(asked).toEqual([]);
    const empty = await refusalOf(create({ url: '', eventTypes: [] }));
    expect(empty.fieldViolations.map(({ path }) => path)).toEqual(['url', 'event_types']);
  });

  test('an address that deliveries may not go to is refused at creation and in an update', async () => {
    const refusalOfHost = async ({ hostname }: URL) =>
      hostname === 'inside.example.com'
        ? 'resolves to 10.0.0.7, which is inside a private network'
        : undefined;
    const { create, client } = await serving({ addressGuard: { refusalOf: refusalOfHost } });
    const { subscription } = await create();
    const inside = { url: 'https://inside.example.com/' };
    const update = () =>
      client.updateSubscription({ subscriptionId: subscription.id, ...NO_LISTS, ...inside }, CALL);
    for (const refused of [await refusalOf(create(inside)), await refusalOf(update())]) {
      expect(refused.code).toBe(ErrorCode.WEBHOOK_URL_REFUSED);
      expect(refused.message).toBe('The address resolves to 10.0.0.7, which is inside a private network.');
    }
  });

  test('an address that is not https is refused on live', async () => {
    const addressGuard = new AddressGuard({ httpsOnly: true, allowedNetworks: [], allowLoopback: false });
    const { create } = await serving({ addressGuard });
    const plain = await refusalOf(create({ url: 'http://hooks.example.com/' }));
    expect(plain).toMatchObject({
      code: ErrorCode.WEBHOOK_URL_REFUSED,
      message: 'The address must be https.',
      fieldViolations: [{ path: 'url', message: 'must be https' }],
    });
  });

  test.each(['edge', 'relay', 'platform', 'auditor'] as const)(
    'the token of the %s opens none of it',
    async (caller) => {
      const { rig } = await serving();
      const client = rig.channel(TOKENS[caller]).clientOf(methods);
      const refused = await refusalOf(client.listSubscriptions(LIST, CALL));
      expect(refused.code).toBe(ErrorCode.CALLER_NOT_ALLOWED);
    },
  );

  test('no answer but those that make a secret holds one, nor does the log or the audit log', async () => {
    const { client, create, rig, database } = await serving();
    const { subscription, secret } = await create();
    const subscriptionId = subscription.id;
    const rotated = await client.rotateSubscriptionSecret({ subscriptionId }, CALL);
    const seen = JSON.stringify([
      await client.getSubscription({ subscriptionId }, CALL),
      await client.listSubscriptions(LIST, CALL),
      await client.updateSubscription({ subscriptionId, ...NO_LISTS, description: 'x' }, CALL),
      await client.disableSubscription({ subscriptionId }, CALL),
      await client.enableSubscription({ subscriptionId }, CALL),
      await client.testSubscription({ subscriptionId }, CALL),
      await client.deleteSubscription({ subscriptionId }, CALL),
      await database.reader.selectFrom('audit_events').selectAll().execute(),
      rig.lines,
    ]);
    expect(rig.lines.length).toBeGreaterThan(0);
    for (const each of [secret, rotated.secret]) {
      expect(seen).not.toContain(each.slice('whsec_'.length));
    }
    expect(seen).not.toContain('whsec_');
  });
});
