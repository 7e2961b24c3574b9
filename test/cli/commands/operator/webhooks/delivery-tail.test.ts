import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import {
  DeliveryOrigin,
  DeliveryStatus,
  type TailDeliveriesRequest,
  type TailDeliveriesResponse,
} from '../../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { ErrorCode, ServiceError } from '../../../../../src/errors/service-error.js';
import type { CallContext } from '../../../../../src/rpc/handlers.js';
import { at, attempt, delivery, failedAttempt, type WebhookHandlers, webhookRigs } from './rig.js';

const start = webhookRigs();

const later = new Date(at.getTime() + 30_000);
const made = { delivery: delivery({ attemptsBegun: 0, origin: DeliveryOrigin.REPLAY }), skipped: 0 };
const failed = { delivery: delivery({ nextAttemptAt: later }), attempt: failedAttempt(), skipped: 0 };
const succeeded = {
  delivery: delivery({ status: DeliveryStatus.DELIVERED, attemptsBegun: 2, endedAt: later }),
  attempt: attempt({ number: 2, startedAt: later }),
  skipped: 4,
};
/** The same attempt, told once the next one has begun. */
const failedSince = { ...failed, delivery: delivery({ attemptsBegun: 2 }) };

/** Tells these, then nothing until the caller goes; of each call the next list. */
function tailing(asked: TailDeliveriesRequest[], ...tellings: TailDeliveriesResponse[][]): WebhookHandlers {
  return {
    listDeliveries: async () => ({ deliveries: [], nextPageToken: '' }),
    tailDeliveries: async function* (request: TailDeliveriesRequest, { signal }: CallContext) {
      asked.push(request);
      yield* tellings[asked.length - 1] ?? [];
      if (!signal.aborted) {
        await once(signal, 'abort');
      }
    },
  };
}

describe('integration delivery tail', () => {
  test('prints a line for whatever happens, until Ctrl-C, which is no failure', async () => {
    const asked: TailDeliveriesRequest[] = [];
    const { begin } = await start(tailing(asked, [made, failed, succeeded]));
    const filter = ['--subscription', 'whs_1', '--types', 'user.*', '--since', '2026-07-01'];
    const tail = begin('delivery', 'tail', ...filter);
    await tail.output.nextText('attempt 2');
    expect(await tail.interrupt()).toBe(0);
    expect(asked).toEqual([
      { subscriptionId: 'whs_1', eventTypes: ['user.*'], since: new Date('2026-07-01') },
    ]);
    const opening = (time: string) =>
      `2026-07-01 10:00:${time}Z  whd_1  user.updated                   whs_1  `;
    expect(tail.output.text().split('\n')).toEqual([
      `${opening('00')}made (replay)`,
      `${opening('00')}attempt 1: 500 in 12 ms; The receiver answered 500. (next 2026-07-01 10:00:30Z)`,
      `${opening('30')}attempt 2: 204 in 12 ms`,
    ]);
    expect(tail.errors.text()).toBe(
      'Left out here, because they were too many to follow, or read too slowly: 4.',
    );
  });

  test('prints what followed the last attempt of a delivery, and not after earlier ones', async () => {
    const exhausted = delivery({ status: DeliveryStatus.EXHAUSTED, attemptsBegun: 2, endedAt: later });
    const past = [1, 2].map((number) => ({
      delivery: exhausted,
      attempt: failedAttempt({ number }),
      skipped: 0,
    }));
    const { begin } = await start(tailing([], past));
    const tail = begin('delivery', 'tail', '--since', '2026-07-01');
    await tail.output.nextText('attempt 2');
    await tail.interrupt();
    expect(tail.output.text().match(/attempt.*/g)).toEqual([
      'attempt 1: 500 in 12 ms; The receiver answered 500.',
      'attempt 2: 500 in 12 ms; The receiver answered 500. (exhausted)',
    ]);
  });

  test('as JSON is an object a line', async () => {
    const { begin } = await start(tailing([], [failed, succeeded]));
    const tail = begin('delivery', 'tail', '--json');
    await tail.output.nextText('"number":2');
    await tail.interrupt('SIGTERM');
    const objects = tail.output
      .text()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(objects).toMatchObject([
      { delivery: { id: 'whd_1' }, attempt: { number: 1, responseStart: '' }, skipped: 0 },
      { delivery: { status: 'DELIVERY_STATUS_DELIVERED' }, attempt: { number: 2 }, skipped: 4 },
    ]);
  });

  test('reconnects to a service that was away, and prints nothing twice', async () => {
    const asked: TailDeliveriesRequest[] = [];
    const { begin, goAway, comeBack } = await start(tailing(asked, [made, failed], [failedSince, succeeded]));
    const tail = begin('delivery', 'tail');
    await tail.output.nextText('attempt 1');
    goAway();
    await tail.errors.nextText('The connection was lost.');
    await comeBack();
    await tail.output.nextText('attempt 2');
    expect(await tail.interrupt()).toBe(0);
    expect(tail.output.text().match(/attempt 1/g)).toHaveLength(1);
    expect(asked.map(({ since }) => since)).toEqual([undefined, expect.any(Date)]);
    expect(tail.errors.text().match(/connection was lost/g)).toHaveLength(1);
  });

  test('continues from the last entry where that is later than the beginning', async () => {
    const asked: TailDeliveriesRequest[] = [];
    const { begin, goAway, comeBack } = await start(tailing(asked, [failed], [succeeded]));
    const tail = begin('delivery', 'tail', '--since', '2026-07-01');
    await tail.output.nextText('attempt 1');
    goAway();
    await tail.errors.nextText('The connection was lost.');
    await comeBack();
    await tail.output.nextText('attempt 2');
    expect(asked[1]?.since).toEqual(new Date(at.getTime() + 12));
  });

  test('without a server ends at once, with the reason', async () => {
    const { typeApart, goAway } = await start({});
    goAway();
    const { code, stdout, stderr } = await typeApart('delivery', 'tail');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('gave no usable answer: UNAVAILABLE');
  });

  test('ends with what it is refused with', async () => {
    const { type } = await start({
      listDeliveries: async () => {
        throw new ServiceError(ErrorCode.SUBSCRIPTION_NOT_FOUND, 'There is no such subscription.');
      },
    });
    const { code, stderr } = await type('delivery', 'tail', '--subscription', 'whs_none');
    expect([code, stderr]).toEqual([1, 'There is no such subscription. (subscription_not_found)\n']);
  });
});
