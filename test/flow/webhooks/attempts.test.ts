import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import {
  AttemptOutcome,
  DeliveryStatus,
  type GetDeliveryResponse,
} from '../../../generated/proto/integration/webhooks/v1/deliveries.js';
import {
  SubscriptionDisabledReason,
  SubscriptionStatus,
} from '../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import type { DevServer } from '../../../workflows/dev-server/start.js';
import { describeWith } from '../../support/toolchains.js';
import {
  type Answer,
  answerWith,
  atFirst,
  type ReceivedWebhook,
  verified,
} from '../../support/webhooks/receiver.js';
import { startServer } from '../../workflows/temporal-fixture.js';
import { instanceIds } from '../sign-on/demo-environment.js';
import { call } from '../sign-on/environment.js';
import { type Subscribed, webhookEnvironment } from './webhook-environment.js';

const NAMESPACE = 'demo';
/**
 * Timestamps are in whole seconds, so attempts must be more than a second apart. The worker takes the clock
 * of the domain for late by as long as an answer took: with the shortest delay there is room for 2.2 s.
 */
const RETRY_DELAY_MS = 4_000;
const LEAST_WAIT_MS = RETRY_DELAY_MS * 0.8;

const failing = answerWith(500, { 'content-type': 'text/plain' }, 'The kettle is on fire.');

describeWith('temporal', 'a receiver that does not accept', (executable) => {
  let server: DevServer;
  beforeAll(async () => {
    server = await startServer(executable, { namespace: NAMESPACE });
  });
  const environment = webhookEnvironment(() => ({
    env: {
      TEMPORAL_ADDRESS: server.address,
      WEBHOOK_RETRY_DELAYS: `${RETRY_DELAY_MS}ms,${RETRY_DELAY_MS}ms`,
    },
  }));
  afterAll(() => server?.stop());

  /** How it went with one and the same event. */
  const stories = new Map<string, { to: Subscribed; log: GetDeliveryResponse }>();
  let elsewhere: Subscribed;

  beforeAll(async () => {
    const { demo } = environment;
    await demo.service.joinedTemporal();
    elsewhere = await demo.subscribe({ eventTypes: ['user.updated'] });
    const onward = answerWith(307, { location: elsewhere.receiver.url });
    const answers: Record<string, Answer> = {
      'fails twice': atFirst(2, failing),
      'always fails': failing,
      'is gone': answerWith(410),
      redirects: onward,
      'hangs up': atFirst(1, (response) => response.destroy()),
      'is too busy': atFirst(1, answerWith(503, { 'retry-after': '6' })),
      'fails with advice': atFirst(1, answerWith(500, { 'retry-after': '600' })),
    };
    const subscribed = await Promise.all(
      Object.entries(answers).map(async ([name, answer]) => ({
        name,
        to: await demo.subscribe({ eventTypes: ['client.*'] }, answer),
      })),
    );
    await demo.newClient(instanceIds.harborlight);
    await Promise.all(
      subscribed.map(async ({ name, to }) => {
        const { eventId } = await to.receiver.next();
        stories.set(name, { to, log: await demo.ended(to, eventId) });
      }),
    );
  });

  function story(name: string) {
    const { to, log } = stories.get(name) as { to: Subscribed; log: GetDeliveryResponse };
    const { received } = to.receiver;
    return { ...to, ...log, received, outcomes: log.attempts.map(({ outcome }) => outcome) };
  }

  test('fails twice, then accepts: three requests with one id, three timestamps and the same bytes', () => {
    const { received, secret, delivery, attempts } = story('fails twice');
    expect(received).toHaveLength(3);
    expect(new Set(received.map(({ eventId }) => eventId)).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(3);
    expect(new Set(received.map(({ body }) => body.toString('base64'))).size).toBe(1);
    for (const request of received) {
      expect(verified(request, secret)).toEqual(request.event);
    }
    expect(delivery).toMatchObject({ status: DeliveryStatus.DELIVERED, attemptsBegun: 3 });
    expect(attempts.map(({ number, httpStatus }) => [number, httpStatus])).toEqual([
      [1, 500],
      [2, 500],
      [3, 204],
    ]);
    for (const wait of waits(received)) {
      expect(wait).toBeGreaterThan(LEAST_WAIT_MS);
    }
  });

  test('always fails: three requests and never another, for the workflow has ended', async () => {
    const { received, delivery, attempts } = story('always fails');
    await finished(delivery?.retryWorkflowId);
    expect(received).toHaveLength(3);
    expect(delivery).toMatchObject({ status: DeliveryStatus.EXHAUSTED, attemptsBegun: 3 });
    expect(attempts.map(({ outcome }) => outcome)).toEqual(Array(3).fill(AttemptOutcome.STATUS_REFUSED));
    for (const { message, responseStart } of attempts) {
      expect(message).toMatch(/^[A-Z].*500.*\.$/);
      expect(Buffer.from(responseStart).toString()).toBe('The kettle is on fire.');
    }
  });

  test('is gone: one request, and the subscription is disabled with what is due to it held', async () => {
    const { received, delivery, attempts, subscription } = story('is gone');
    expect(received).toHaveLength(1);
    expect(delivery).toMatchObject({ status: DeliveryStatus.HELD, attemptsBegun: 1 });
    expect(attempts).toMatchObject([{ httpStatus: 410 }]);
    const subscriptionId = subscription.id;
    expect(await environment.demo.webhooks.getSubscription({ subscriptionId }, call())).toMatchObject({
      heldDeliveries: 1,
      subscription: {
        status: SubscriptionStatus.DISABLED,
        disabledReason: SubscriptionDisabledReason.GONE,
      },
    });
    expect(environment.demo.audited(subscriptionId).map(({ type }) => type)).toContain(
      'subscription.disabled',
    );
  });

  test('redirects: asked three times itself, and not followed', () => {
    const { received, delivery, attempts } = story('redirects');
    expect(received).toHaveLength(3);
    expect(elsewhere.receiver.received).toEqual([]);
    expect(delivery?.status).toBe(DeliveryStatus.EXHAUSTED);
    for (const { httpStatus, message } of attempts) {
      expect([httpStatus, message]).toEqual([307, expect.stringMatching(/redirect/i)]);
    }
  });

  test('hangs up once: asked again', () => {
    const { received, delivery, outcomes } = story('hangs up');
    expect(received).toHaveLength(2);
    expect(delivery?.status).toBe(DeliveryStatus.DELIVERED);
    expect(outcomes).toEqual([AttemptOutcome.CONNECTION_FAILED, AttemptOutcome.SUCCEEDED]);
  });

  test('is too busy and says for how long: not asked before', () => {
    const { received, outcomes } = story('is too busy');
    expect(outcomes).toEqual([AttemptOutcome.STATUS_REFUSED, AttemptOutcome.SUCCEEDED]);
    expect(waits(received)[0]).toBeGreaterThan(5_990);
  });

  test('says for how long with another status than 429 and 503: asked when it is due', () => {
    const { outcomes } = story('fails with advice');
    expect(outcomes).toEqual([AttemptOutcome.STATUS_REFUSED, AttemptOutcome.SUCCEEDED]);
  });

  describe('what Temporal shows', () => {
    test('is a workflow for each of those that were retried, with a name that identifies it', async () => {
      const retried = ['fails twice', 'always fails', 'redirects', 'hangs up', 'is too busy'];
      for (const { subscription, delivery } of retried.map(story)) {
        expect(delivery?.retryWorkflowId).toMatch(new RegExp(`^webhook-retry/${subscription.id}/`));
        await finished(delivery?.retryWorkflowId);
      }
    });
  });

  async function finished(workflowId: string | undefined): Promise<void> {
    const connection = await Connection.connect({ address: server.address });
    try {
      await new Client({ connection, namespace: NAMESPACE }).workflow.getHandle(workflowId ?? '').result();
    } finally {
      await connection.close();
    }
  }

  /** Between one request and the next. */
  function waits(received: readonly ReceivedWebhook[]): number[] {
    return received.slice(1).map(({ at }, index) => at - (received[index]?.at ?? 0));
  }
});
