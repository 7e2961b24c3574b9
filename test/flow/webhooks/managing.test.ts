import { describe, expect, test } from '@jest/globals';
import { exampleEvents } from '../../../generated/asyncapi/examples.js';
import {
  type Delivery,
  DeliveryOrigin,
  DeliveryStatus,
} from '../../../generated/proto/integration/webhooks/v1/deliveries.js';
import type { ReplayEventsRequest } from '../../../generated/proto/integration/webhooks/v1/events.js';
import {
  SubscriptionDisabledReason,
  SubscriptionStatus,
} from '../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { faultsOfWebhook } from '../../support/webhooks/event-judge.js';
import { verified } from '../../support/webhooks/receiver.js';
import { instanceIds } from '../sign-on/demo-environment.js';
import { call } from '../sign-on/environment.js';
import { type Subscribed, webhookEnvironment } from './webhook-environment.js';

const environment = webhookEnvironment();

/** Something happens, and the newest thing that came of it is there. */
async function eventTo({ receiver }: Subscribed) {
  const clientId = await environment.demo.newClient(instanceIds.harborlight);
  return receiver.next(({ event }) => event.entity.id === clientId);
}

function idOf({ subscription }: Subscribed) {
  return { subscriptionId: subscription.id };
}

describe('a rotation', () => {
  test('lets both secrets verify for as long as they overlap', async () => {
    const to = await environment.demo.subscribe();
    const rotated = await environment.demo.webhooks.rotateSubscriptionSecret(idOf(to), call());
    expect(rotated.secret).not.toBe(to.secret);
    expect(rotated.subscription?.secrets).toHaveLength(2);
    const request = await eventTo(to);
    expect(String(request.headers['webhook-signature']).split(' ')).toHaveLength(2);
    expect(verified(request, rotated.secret)).toEqual(request.event);
    expect(verified(request, to.secret)).toEqual(request.event);
  });

  test('without an overlap leaves the new secret alone', async () => {
    const to = await environment.demo.subscribe();
    const rotation = { ...idOf(to), overlapSeconds: 0 };
    const { secret } = await environment.demo.webhooks.rotateSubscriptionSecret(rotation, call());
    const request = await eventTo(to);
    expect(verified(request, secret)).toEqual(request.event);
    expect(() => verified(request, to.secret)).toThrow('No matching signature found');
  });
});

describe('a subscription that was disabled and is enabled again', () => {
  test('gets what it missed when that is replayed, once', async () => {
    const { demo } = environment;
    const to = await demo.subscribe();
    const first = await eventTo(to);
    // Until its end is recorded, it would be held as well.
    await demo.ended(to, first.eventId);
    const { subscription } = await demo.webhooks.disableSubscription(idOf(to), call());
    expect(subscription).toMatchObject({
      status: SubscriptionStatus.DISABLED,
      disabledReason: SubscriptionDisabledReason.OPERATOR,
    });
    const missed = [await newClient(), await newClient(), await newClient()];
    const enabled = await demo.webhooks.enableSubscription(idOf(to), call());
    expect(enabled).toMatchObject({ heldDeliveries: 3, subscription: { status: SubscriptionStatus.ACTIVE } });
    const since = enabled.heldSince as Date;

    expect(await replay(to, since)).toBe(3);
    const replayed = await to.receiver.until('what was missed', (requests) =>
      requests.length >= 4 ? requests.slice(1) : undefined,
    );
    expect(replayed.map(({ event }) => event.entity.id).sort()).toEqual([...missed].sort());
    for (const request of replayed) {
      expect(verified(request, to.secret)).toEqual(request.event);
      await demo.ended(to, request.eventId);
    }
    expect(await replay(to, since)).toBe(0);
    expect(statusesByOrigin(await demo.deliveries(to))).toEqual({
      [DeliveryOrigin.EVENT]: ['CANCELLED', 'CANCELLED', 'CANCELLED', 'DELIVERED'],
      [DeliveryOrigin.REPLAY]: ['DELIVERED', 'DELIVERED', 'DELIVERED'],
    });
  });

  test('gets again what it has acknowledged only if that is asked for', async () => {
    const { demo } = environment;
    const to = await demo.subscribe();
    const first = await eventTo(to);
    await demo.ended(to, first.eventId);
    const since = new Date(first.event.occurredAt);
    expect(await replay(to, since)).toBe(0);
    expect(await replay(to, since, { includeDelivered: true })).toBe(1);
    const [once, again] = await to.receiver.attempts(first.eventId, 2);
    expect(again?.body).toEqual(once?.body);
  });

  function newClient(): Promise<string> {
    return environment.demo.newClient(instanceIds.harborlight);
  }

  /** How many deliveries came of it. */
  async function replay(to: Subscribed, since: Date, more: Partial<ReplayEventsRequest> = {}) {
    const request = { ...idOf(to), since, eventTypes: [], includeDelivered: false, ...more };
    let last: { done: boolean; createdDeliveries: number } | undefined;
    for await (const progress of environment.demo.webhooks.replayEvents(request, call())) {
      last = progress;
    }
    expect(last?.done).toBe(true);
    return last?.createdDeliveries;
  }

  function statusesByOrigin(deliveries: readonly Delivery[]): Record<string, string[]> {
    const statuses: Record<string, string[]> = {};
    for (const { origin, status } of deliveries) {
      statuses[origin] = [...(statuses[origin] ?? []), status.replace('DELIVERY_STATUS_', '')].sort();
    }
    return statuses;
  }
});

describe('a resend', () => {
  test('is a new delivery with the same event, freshly signed', async () => {
    const { demo } = environment;
    const to = await demo.subscribe();
    const { eventId } = await eventTo(to);
    const { delivery: first } = await demo.ended(to, eventId);
    const resent = await demo.webhooks.resendDelivery({ deliveryId: first?.id ?? '' }, call());
    expect(resent.delivery).toMatchObject({
      eventId,
      origin: DeliveryOrigin.RESEND,
      status: DeliveryStatus.PENDING,
    });
    expect(resent.delivery?.id).not.toBe(first?.id);
    const [, again] = await to.receiver.attempts(eventId, 2);
    expect(again && verified(again, to.secret)).toEqual(again?.event);
    expect((await demo.ended(to, eventId)).delivery).toMatchObject({
      id: resent.delivery?.id,
      status: DeliveryStatus.DELIVERED,
      attemptsBegun: 1,
    });
  });
});

describe('a test event', () => {
  test('goes to the one subscription, genuine, and is no event of the instance', async () => {
    const { demo } = environment;
    const to = await demo.subscribe({ eventTypes: ['worker.*'] });
    const other = await demo.subscribe();
    const { delivery } = await demo.webhooks.testSubscription(idOf(to), call());
    const request = await to.receiver.next();
    expect(request.event.type).toMatch(/^worker\./);
    expect(verified(request, to.secret)).toEqual(request.event);
    expect(delivery).toMatchObject({ origin: DeliveryOrigin.TEST, eventId: request.eventId });

    const types = { types: [], pageSize: 500, pageToken: '' };
    const { events } = await demo.webhooks.listEvents(types, call());
    expect(events.map(({ id }) => id)).not.toContain(request.eventId);
    expect(await demo.deliveries(other)).toEqual([]);
  });

  test('can be of any type that the contract has', async () => {
    const to = await environment.demo.subscribe();
    const wanted = { ...idOf(to), eventType: 'organization_location.deleted' };
    await environment.demo.webhooks.testSubscription(wanted, call());
    expect((await to.receiver.next()).event.type).toBe(wanted.eventType);
  });

  test.each(Object.keys(exampleEvents))(
    '%s is marked, resends included, and its link leads to the sample with the receiver’s key',
    async (eventType) => {
      const to = await environment.demo.subscribe();
      const { delivery } = await environment.demo.webhooks.testSubscription(
        { ...idOf(to), eventType },
        call(),
      );
      const request = await to.receiver.next();
      expect(request.event).toMatchObject({ type: eventType, test: true });
      expect(faultsOfWebhook(request.headers, request.body)).toEqual([]);
      const answer = await environment.demo.follow(request);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain(request.event.entity.id);

      await environment.demo.ended(to, request.eventId);
      await environment.demo.webhooks.resendDelivery({ deliveryId: delivery?.id ?? '' }, call());
      const [, again] = await to.receiver.attempts(request.eventId, 2);
      expect(again?.body).toEqual(request.body);
    },
  );

  test('is what only test events are marked as', async () => {
    const to = await environment.demo.subscribe();
    expect((await eventTo(to)).event).not.toHaveProperty('test');
  });
});
