import { describe, expect, test } from '@jest/globals';
import {
  AttemptOutcome,
  DeliveryStatus,
} from '../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { DeliveryServiceService } from '../../../generated/proto/integration/webhooks/v1/sending.js';
import { retriesOver, retryBatchesOver } from '../../../src/cli/roles/calls-of-domain.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { type Handlers, serve } from '../../../src/rpc/handlers.js';
import { rpcRigs } from '../../rpc/rig.js';

const at = new Date('2020-07-01T10:00:00Z');
const call = { requestId: 'webhook-retry/whs_1/bat_1/attempts-2/1', signal: AbortSignal.any([]) };
const attempt = { deliveryId: 'whd_1', attemptNumber: 2, bySignal: false };
const pending = {
  ...{ deliveryId: 'whd_1', status: DeliveryStatus.PENDING, attemptsBegun: 1, nextAttemptAt: at },
  lastOutcome: AttemptOutcome.UNSPECIFIED,
};
/** Of that delivery. */
const state = {
  ...{ deliveryId: 'whd_1', status: 'PENDING', attemptsBegun: 1, nextAttemptAt: at.toISOString() },
  ...{ lastAttempt: null, waitMs: 0, isUnderWay: false },
};
const refused = {
  ...pending,
  deliveryId: 'whd_2',
  lastOutcome: AttemptOutcome.STATUS_REFUSED,
  lastHttpStatus: 503,
};
describe('what the retries ask of the domain', () => {
  const rigs = rpcRigs();

  async function serving(handlers: Handlers<typeof DeliveryServiceService>) {
    const rig = await rigs.start([serve(DeliveryServiceService, handlers)]);
    const channel = rig.channel();
    return {
      retries: retriesOver(channel),
      batches: retryBatchesOver(channel),
      lines: rig.lines,
    };
  }

  const batch = {
    batchId: 'bat_1',
    subscriptionId: 'whs_1',
    instanceIntegrationId: 'iin_1',
    eventTypes: ['user.updated'],
    address: 'https://hooks.example.com',
    deliveries: [pending, { ...pending, deliveryId: 'whd_2' }],
  };

  test.each([
    [DeliveryStatus.PENDING, 'PENDING', at.toISOString()],
    [DeliveryStatus.DELIVERED, 'DELIVERED', null],
    [DeliveryStatus.EXHAUSTED, 'EXHAUSTED', null],
    [DeliveryStatus.HELD, 'HELD', null],
    [DeliveryStatus.CANCELLED, 'CANCELLED', null],
  ])('is answered with the deliveries of a batch, %s as %s', async (told, status, nextAttemptAt) => {
    const { retries } = await serving({
      getRetryBatch: async () => ({
        batch: { ...batch, deliveries: [{ ...pending, status: told, leaseExpiresAt: at }] },
      }),
    });
    expect(await retries.retryBatch('bat_1', call)).toEqual([
      { ...state, status, nextAttemptAt, isUnderWay: true },
    ]);
  });

  test('waits for as long as the domain says, whatever the clock of this machine shows', async () => {
    const times = { nextAttemptAt: new Date(0), leaseExpiresAt: new Date(0), waitMs: 5_000 };
    const { retries } = await serving({
      getRetryBatch: async () => ({ batch: { ...batch, deliveries: [{ ...pending, ...times }] } }),
    });
    expect(await retries.retryBatch('bat_1', call)).toMatchObject([{ waitMs: 5_000 }]);
  });

  test('takes a batch that was purged for an empty one, and no other refusal', async () => {
    const refused = (code: ErrorCode) =>
      serving({ getRetryBatch: () => Promise.reject(new ServiceError(code, 'refused')) });
    expect(await (await refused(ErrorCode.RETRY_BATCH_NOT_FOUND)).retries.retryBatch('bat_1', call)).toEqual(
      [],
    );
    const { retries } = await refused(ErrorCode.UNAVAILABLE);
    await expect(retries.retryBatch('bat_1', call)).rejects.toThrow('refused');
  });

  test('fails rather than guess for an unknown state of the domain', async () => {
    const { retries } = await serving({
      getRetryBatch: async () => ({
        batch: { ...batch, deliveries: [{ ...pending, status: DeliveryStatus.UNSPECIFIED }] },
      }),
    });
    await expect(retries.retryBatch('bat_1', call)).rejects.toThrow('whd_1');
  });

  test.each([
    [AttemptOutcome.STATUS_REFUSED, 503, 'answered 503'],
    [AttemptOutcome.SUCCEEDED, 204, 'answered 204'],
    [AttemptOutcome.TIMED_OUT, 200, 'timed out'],
    [AttemptOutcome.UNSPECIFIED, undefined, null],
  ])('makes attempts due and hears how they ended: %s', async (lastOutcome, lastHttpStatus, lastAttempt) => {
    const asked: unknown[] = [];
    const { retries, lines } = await serving({
      makeDeliveriesDue: async ({ attempts }) => {
        asked.push(...attempts);
        return { deliveries: [{ ...pending, lastOutcome, lastHttpStatus }] };
      },
    });
    expect(await retries.makeDue([attempt], call)).toEqual([{ ...state, lastAttempt }]);
    expect(asked).toEqual([attempt]);
    expect(lines.map(({ requestId }) => requestId)).toEqual([call.requestId]);
  });

  test('gives deliveries up', async () => {
    const { retries } = await serving({
      giveUpDeliveries: async ({ deliveryIds }) => ({
        deliveries: deliveryIds.map((deliveryId) => ({
          deliveryId,
          status: DeliveryStatus.EXHAUSTED,
          attemptsBegun: 1,
          lastOutcome: AttemptOutcome.UNSPECIFIED,
        })),
      }),
    });
    const givenUp = { ...state, status: 'EXHAUSTED', nextAttemptAt: null };
    expect(await retries.giveUp(['whd_2', 'whd_3'], call)).toEqual([
      { ...givenUp, deliveryId: 'whd_2' },
      { ...givenUp, deliveryId: 'whd_3' },
    ]);
  });

  test('lists batches with their deliveries and how their attempts ended, and marks those that were handed over', async () => {
    const asked: unknown[] = [];
    const { batches } = await serving({
      claimRetryBatches: async (request) => {
        asked.push(request);
        return {
          batches: [{ ...batch, deliveries: [pending, refused, { ...refused, deliveryId: 'whd_3' }] }],
        };
      },
      markRetryBatchesHandedOver: async (request) => {
        asked.push(request);
        return {};
      },
    });
    expect(await batches.toHandOver({ limit: 5, maxWaitMs: 100 }, call)).toEqual([
      { ...batch, deliveries: ['whd_1', 'whd_2', 'whd_3'], reason: 'answered 503 (2), under way (1)' },
    ]);
    await batches.markHandedOver(['bat_1'], call);
    expect(asked).toEqual([{ limit: 5, maxWaitMs: 100 }, { batchIds: ['bat_1'] }]);
  });
});
