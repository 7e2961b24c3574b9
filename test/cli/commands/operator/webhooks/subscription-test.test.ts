import { describe, expect, test } from '@jest/globals';
import {
  type DeliveryAttempt,
  DeliveryOrigin,
  DeliveryStatus,
} from '../../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { attempt, delivery, failedAttempt, webhookRigs } from './rig.js';

const start = webhookRigs();

const asked: object[] = [];

/** The first attempt ends while the command waits. */
async function startTested(ended: DeliveryAttempt, status: DeliveryStatus) {
  asked.length = 0;
  let looks = 0;
  const made = delivery({ origin: DeliveryOrigin.TEST, attemptsBegun: 0 });
  return start({
    testSubscription: async (request) => {
      asked.push(request);
      return { delivery: made };
    },
    getDelivery: async () => {
      looks += 1;
      return looks === 1
        ? { delivery: made, attempts: [], body: Buffer.from('{}') }
        : { delivery: { ...made, status }, attempts: [ended], body: Buffer.from('{}') };
    },
  });
}

describe('integration subscription test', () => {
  test('waits for the first attempt and says how it went', async () => {
    const { type } = await startTested(attempt(), DeliveryStatus.DELIVERED);
    const { code, stdout, stderr } = await type('subscription', 'test', 'whs_1', '--event', 'worker.updated');
    expect([code, stderr]).toEqual([0, '']);
    expect(asked).toEqual([{ subscriptionId: 'whs_1', eventType: 'worker.updated' }]);
    expect(stdout).toMatch(/\nStatus +delivered\n/);
    expect(stdout).toMatch(/\n1 +2026-07-01 10:00:00Z +12 ms +succeeded +204 +-\n/);
  });

  test('ends with exit code 1 and the reason when the event is not acknowledged', async () => {
    const { typeApart } = await startTested(failedAttempt(), DeliveryStatus.PENDING);
    const { code, stdout, stderr } = await typeApart('subscription', 'test', 'whs_1');
    expect([code, stderr]).toEqual([1, 'The test event was not acknowledged. The receiver answered 500.\n']);
    expect(stdout).toMatch(/ status refused +500 +The receiver answered 500\.\n/);
  });

  test('does not wait where that is not wanted', async () => {
    const { type } = await startTested(failedAttempt(), DeliveryStatus.PENDING);
    const { code, stdout } = await type('subscription', 'test', 'whs_1', '--no-wait');
    expect(code).toBe(0);
    expect(stdout).toContain('`integration delivery show whd_1`');
    expect(stdout).not.toContain('ATTEMPT ');
  });
});
