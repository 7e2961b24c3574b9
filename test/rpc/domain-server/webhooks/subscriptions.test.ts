import { expect, test } from '@jest/globals';
import {
  DeliveryOrigin,
  DeliveryStatus,
} from '../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import {
  type ListSubscriptionsRequest,
  SubscriptionDisabledReason as Reason,
  SubscriptionStatus as Status,
} from '../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { MOST_CLOSED_AT_ONCE, newDelivery } from '../../../../src/domain/webhooks/subscriptions/rows.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { OPERATOR } from '../../../store/adapters/operator/rig.js';
import { plantEvent } from '../../../store/adapters/webhooks/logs/rig.js';
import { newConnection, plantDelivery } from '../../../store/adapters/webhooks/subscriptions/rig.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../rig.js';
import { CALL, LIST, NO_LISTS, WHOLE, webhookServing } from './rig.js';

describeEachDatabase('subscriptions over gRPC', (under) => {
  const serving = webhookServing(under);

  test('the life of a subscription, from its creation to its end', async () => {
    const { client, create, connection, clock, unitOfWork, database } = await serving();
    const { subscription, secret } = await create();
    const now = new Date(clock.now());
    expect(subscription).toEqual({
      id: expect.stringMatching(/^whs_/),
      instanceIntegrationId: connection.id,
      ...WHOLE,
      status: Status.ACTIVE,
      disabledReason: Reason.UNSPECIFIED,
      disabledAt: undefined,
      secrets: [{ id: expect.stringMatching(/^sec_/), createdAt: now, expiresAt: undefined }],
      lastSuccessAt: undefined,
      failingSince: undefined,
      createdAt: now,
      updatedAt: now,
      version: expect.any(String),
    });
    expect(secret).toMatch(/^whsec_/);
    const subscriptionId = subscription.id;
    const stored = await unitOfWork.rows.subscriptions.find(subscriptionId);
    await plantDelivery(database, stored as NonNullable<typeof stored>, {}, 1_790_000_000_000);
    await plantDelivery(database, stored as NonNullable<typeof stored>, {}, 1_790_000_003_000);

    const behind = await client.getSubscription({ subscriptionId }, CALL);
    expect(behind).toEqual({ subscription, pendingDeliveries: 2, heldDeliveries: 0 });
    clock.advance(1_000);
    const disabled = await client.disableSubscription(
      { subscriptionId, expectedVersion: subscription.version },
      CALL,
    );
    expect(disabled).toMatchObject({
      subscription: {
        status: Status.DISABLED,
        disabledReason: Reason.OPERATOR,
        disabledAt: new Date(clock.now()),
      },
      heldDeliveries: 2,
    });
    const enabled = await client.enableSubscription({ subscriptionId }, CALL);
    expect(enabled).toMatchObject({
      subscription: { status: Status.ACTIVE, disabledReason: Reason.UNSPECIFIED },
      heldDeliveries: 2,
      heldSince: new Date(1_790_000_000_000),
    });
    await expect(client.deleteSubscription({ subscriptionId }, CALL)).resolves.toEqual({
      cancelledDeliveries: 2,
    });
    const gone = await refusalOf(client.getSubscription({ subscriptionId }, CALL));
    expect(gone.code).toBe(ErrorCode.SUBSCRIPTION_NOT_FOUND);
  });

  test('however much is pending, the answer says all that is held or cancelled, and enabling holds the rest first', async () => {
    const { client, create, unitOfWork, database } = await serving();
    const { subscription } = await create();
    const subscriptionId = subscription.id;
    const stored = await unitOfWork.rows.subscriptions.find(subscriptionId);
    const pending = MOST_CLOSED_AT_ONCE + 2;
    const id = await plantEvent(database, { occurred_at: 1 });
    const deliveries = Array.from({ length: pending }, () =>
      newDelivery(stored as never, { id, type: 'user.updated' }, 'EVENT', 1),
    );
    await inNameOf(OPERATOR, unitOfWork).run((changes) => changes.deliveries.insert(deliveries));
    const disabled = await client.disableSubscription({ subscriptionId }, CALL);
    expect(disabled.heldDeliveries).toBe(pending);
    await expect(unitOfWork.rows.deliveries.backlogOf(subscriptionId as never)).resolves.toMatchObject({
      pending: 2,
    });
    await expect(client.enableSubscription({ subscriptionId }, CALL)).resolves.toMatchObject({
      heldDeliveries: pending,
    });
    await expect(client.deleteSubscription({ subscriptionId }, CALL)).resolves.toEqual({
      cancelledDeliveries: pending,
    });
  });

  test('enabling one that missed nothing says so', async () => {
    const { client, create } = await serving();
    const { subscription } = await create();
    const answer = await client.enableSubscription({ subscriptionId: subscription.id }, CALL);
    expect(answer).toEqual({ subscription, heldDeliveries: 0, heldSince: undefined });
  });

  test('an update writes what has a value, or what its mask names', async () => {
    const { client, create, connection } = await serving();
    const { subscription } = await create({ clientIds: [connection.clientId] });
    const subscriptionId = subscription.id;
    const described = await client.updateSubscription(
      { subscriptionId, ...NO_LISTS, description: 'Books' },
      CALL,
    );
    expect(described.subscription).toMatchObject({
      description: 'Books',
      clientIds: [connection.clientId],
      eventTypes: ['user.*'],
    });
    const cleared = await client.updateSubscription(
      { subscriptionId, ...NO_LISTS, eventTypes: ['*'], updateMask: ['client_ids', 'event_types'] },
      CALL,
    );
    expect(cleared.subscription).toMatchObject({ description: 'Books', clientIds: [], eventTypes: ['*'] });
  });

  test('a rotation shows the new secret and when the older one ends', async () => {
    const { client, create, clock } = await serving();
    const { subscription, secret } = await create();
    clock.advance(1_000);
    const rotated = await client.rotateSubscriptionSecret(
      { subscriptionId: subscription.id, overlapSeconds: 60 },
      CALL,
    );
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(secret);
    expect(rotated.subscription?.secrets.map(({ expiresAt }) => expiresAt)).toEqual([
      new Date(clock.now() + 60_000),
      undefined,
    ]);
  });

  test('a test event is a delivery that is due', async () => {
    const { client, create, clock, connection } = await serving();
    const { subscription } = await create();
    const asked = { subscriptionId: subscription.id, eventType: 'user.updated' };
    const { delivery } = await client.testSubscription(asked, CALL);
    expect(delivery).toMatchObject({
      id: expect.stringMatching(/^whd_/),
      eventId: expect.stringMatching(/^evt_/),
      subscriptionId: subscription.id,
      instanceIntegrationId: connection.id,
      eventType: 'user.updated',
      origin: DeliveryOrigin.TEST,
      status: DeliveryStatus.PENDING,
      attemptsBegun: 0,
      nextAttemptAt: new Date(clock.now()),
      retryWorkflowId: undefined,
      endedAt: undefined,
    });
  });

  test('lists come in pages, of one state and one instance integration if asked for', async () => {
    const { client, create, clock, database } = await serving();
    const other = await newConnection(database);
    const made: string[] = [];
    for (const fields of [{}, { instanceIntegrationId: other.id }, {}]) {
      made.unshift((await create(fields)).subscription.id);
      clock.advance(1);
    }
    await client.disableSubscription({ subscriptionId: made[0] as string }, CALL);
    const list = async (request: Partial<ListSubscriptionsRequest>) => {
      const { subscriptions, nextPageToken } = await client.listSubscriptions({ ...LIST, ...request }, CALL);
      return { ids: subscriptions.map(({ id }) => id), nextPageToken };
    };
    const first = await list({ pageSize: 2 });
    expect(first.ids).toEqual(made.slice(0, 2));
    const rest = await list({ pageSize: 2, pageToken: first.nextPageToken });
    expect(rest).toEqual({ ids: made.slice(2), nextPageToken: '' });
    expect((await list({ status: Status.DISABLED })).ids).toEqual([made[0]]);
    expect((await list({ instanceIntegrationId: other.id })).ids).toEqual([made[1]]);
    const tooMany = await refusalOf(client.listSubscriptions({ ...LIST, pageSize: 501 }, CALL));
    expect(tooMany.fieldViolations.map(({ path }) => path)).toEqual(['page_size']);
  });
});
