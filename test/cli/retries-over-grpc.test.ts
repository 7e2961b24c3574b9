import { describe, expect, test } from '@jest/globals';
import { AttemptOutcome, DeliveryStatus } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import {
  AttemptRefusalReason,
  DeliveryServiceService,
} from '../../generated/proto/integration/webhooks/v1/sending.js';
import { retriesOver, retryBatchesOver } from '../../src/cli/roles/retries-over-grpc.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';
import { type Handlers, serve } from '../../src/rpc/handlers.js';
import type { AttemptReport } from '../../workflows/activities/retry-ports.js';
import { rpcRigs } from '../rpc/rig.js';

const at = new Date('2026-07-01T10:00:00Z');
const call = { requestId: 'webhook-retry/whs_1/bat_1/attempts-2/1', signal: AbortSignal.any([]) };
const attempt = { deliveryId: 'whd_1', attemptNumber: 2 };
const pending = { deliveryId: 'whd_1', status: DeliveryStatus.PENDING, attemptsBegun: 1, nextAttemptAt: at };
const report: AttemptReport = {
  startedAt: at,
  durationMs: 12,
  outcome: 'STATUS_REFUSED',
  httpStatus: 503,
  message: 'The receiver answered 503.',
  responseStart: Buffer.from('later'),
  retryAfterSeconds: 7,
};

describe('what the retries ask of the domain', () => {
  const rigs = rpcRigs();

  async function serving(handlers: Handlers<typeof DeliveryServiceService>) {
    const rig = await rigs.start([serve(DeliveryServiceService, handlers)]);
    const channel = rig.channel();
    return {
      retries: retriesOver(channel, 'worker-1'),
      batches: retryBatchesOver(channel),
      lines: rig.lines,
    };
  }

  const batch = {
    batchId: 'bat_1',
    subscriptionId: 'whs_1',
    instanceIntegrationId: 'iin_1',
    eventTypes: ['user.updated'],
    deliveries: [pending, { ...pending, deliveryId: 'whd_2' }],
  };

  test.each([
    [DeliveryStatus.PENDING, 'PENDING'],
    [DeliveryStatus.DELIVERED, 'DELIVERED'],
    [DeliveryStatus.EXHAUSTED, 'EXHAUSTED'],
    [DeliveryStatus.HELD, 'HELD'],
    [DeliveryStatus.CANCELLED, 'CANCELLED'],
  ])('is answered with the deliveries of a batch, %s as %s', async (status, expected) => {
    const { retries } = await serving({
      getRetryBatch: async () => ({
        batch: { ...batch, deliveries: [{ ...pending, status, leaseExpiresAt: at }] },
      }),
    });
    expect(await retries.retryBatch('bat_1', call)).toEqual([
      { deliveryId: 'whd_1', status: expected, attemptsBegun: 1, nextAttemptAt: at, leaseExpiresAt: at },
    ]);
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

  test('fails rather than guess where the domain tells of a state that nobody knows', async () => {
    const { retries } = await serving({
      getRetryBatch: async () => ({
        batch: { ...batch, deliveries: [{ ...pending, status: DeliveryStatus.UNSPECIFIED }] },
      }),
    });
    await expect(retries.retryBatch('bat_1', call)).rejects.toThrow('whd_1');
  });

  test('begins an attempt in the name of the worker and hears what to send, and where', async () => {
    const asked: unknown[] = [];
    const target = {
      subscriptionId: 'whs_1',
      url: 'https://a.example/',
      signingSecrets: [Buffer.alloc(32, 1)],
    };
    const body = { eventId: 'evt_1', eventType: 'user.updated', body: Buffer.from('{}') };
    const begun = { result: { $case: 'begun', value: { target, body, leaseExpiresAt: at } } } as const;
    const { retries } = await serving({
      beginAttempts: async ({ attempts }) => {
        asked.push(attempts);
        return { beginnings: attempts.map(() => begun) };
      },
    });
    expect(await retries.beginAttempt(attempt, call)).toEqual({
      begun: { target, body, leaseExpiresAt: at },
    });
    expect(asked).toEqual([[{ workerId: 'worker-1', deliveryId: 'whd_1', attemptNumber: 2 }]]);
  });

  test('begins and records in one call what is begun and recorded at once, and gives each its own answer', async () => {
    const calls: string[][] = [];
    const told = (deliveryId: string) => ({ ...pending, deliveryId });
    const { retries } = await serving({
      beginAttempts: async ({ attempts }) => {
        calls.push(attempts.map(({ deliveryId }) => deliveryId));
        const reason = AttemptRefusalReason.ENDED;
        return {
          beginnings: attempts.map(({ deliveryId }) => ({
            result: { $case: 'refused', value: { reason, delivery: told(deliveryId) } },
          })),
        };
      },
      recordAttempts: async ({ results }) => {
        calls.push(results.map(({ deliveryId }) => deliveryId));
        // In another order than asked, and one was purged.
        return { deliveries: [told('whd_3'), told('whd_1')] };
      },
    });
    const ids = ['whd_1', 'whd_2', 'whd_3'];
    const beginnings = await Promise.all(
      ids.map((deliveryId) => retries.beginAttempt({ ...attempt, deliveryId }, call)),
    );
    expect(beginnings).toMatchObject(ids.map((deliveryId) => ({ refused: { delivery: { deliveryId } } })));
    const recorded = await Promise.all(
      ids.map((deliveryId) => retries.recordAttempt({ ...attempt, deliveryId }, report, call)),
    );
    expect(recorded.map((delivery) => delivery?.deliveryId)).toEqual(['whd_1', undefined, 'whd_3']);
    expect(calls).toEqual([ids, ids]);
  });

  test.each([
    { reason: AttemptRefusalReason.ALREADY_BEGUN, delivery: pending, isLeaseRunning: false },
    { reason: AttemptRefusalReason.LEASE_RUNNING, delivery: pending, isLeaseRunning: true },
    { reason: AttemptRefusalReason.ENDED, delivery: pending, isLeaseRunning: false },
    { reason: AttemptRefusalReason.NOT_FOUND, delivery: undefined, isLeaseRunning: false },
  ])('hears of a refusal for $reason', async ({ reason, delivery, isLeaseRunning }) => {
    const { retries } = await serving({
      beginAttempts: async () => ({
        beginnings: [{ result: { $case: 'refused', value: { reason, delivery } } }],
      }),
    });
    expect(await retries.beginAttempt(attempt, call)).toEqual({
      refused: { delivery: delivery && { ...delivery, status: 'PENDING' }, isLeaseRunning },
    });
  });

  test('sends nothing where the domain does not say what', async () => {
    const { retries } = await serving({
      beginAttempts: async () => ({ beginnings: [{ result: undefined }] }),
    });
    await expect(retries.beginAttempt(attempt, call)).rejects.toThrow('did not say what to send');
  });

  test('records how an attempt went, and hears what follows unless the delivery was purged', async () => {
    const asked: unknown[] = [];
    let deliveries = [{ ...pending, attemptsBegun: 2 }];
    const { retries, lines } = await serving({
      recordAttempts: async ({ results }) => {
        asked.push(...results);
        return { deliveries };
      },
    });
    expect(await retries.recordAttempt(attempt, report, call)).toMatchObject({
      attemptsBegun: 2,
      nextAttemptAt: at,
    });
    const { retryAfterSeconds, ...told } = report;
    expect(asked).toEqual([
      {
        deliveryId: 'whd_1',
        attempt: { ...told, number: 2, outcome: AttemptOutcome.STATUS_REFUSED },
        retryAfterSeconds,
      },
    ]);
    deliveries = [];
    expect(await retries.recordAttempt(attempt, report, call)).toBeUndefined();
    expect(lines.map(({ requestId }) => requestId)).toEqual([call.requestId, call.requestId]);
  });

  test('gives deliveries up', async () => {
    const { retries } = await serving({
      giveUpDeliveries: async ({ deliveryIds }) => ({
        deliveries: deliveryIds.map((deliveryId) => ({
          deliveryId,
          status: DeliveryStatus.EXHAUSTED,
          attemptsBegun: 1,
        })),
      }),
    });
    expect(await retries.giveUp(['whd_2', 'whd_3'], call)).toEqual([
      { deliveryId: 'whd_2', status: 'EXHAUSTED', attemptsBegun: 1 },
      { deliveryId: 'whd_3', status: 'EXHAUSTED', attemptsBegun: 1 },
    ]);
  });

  test('lists batches with how many deliveries they have, and marks those that were handed over', async () => {
    const asked: unknown[] = [];
    const { batches } = await serving({
      claimRetryBatches: async (request) => {
        asked.push(request);
        return { batches: [batch] };
      },
      markRetryBatchesHandedOver: async (request) => {
        asked.push(request);
        return {};
      },
    });
    expect(await batches.toHandOver({ limit: 5, maxWaitMs: 100 }, call)).toEqual([
      { ...batch, deliveries: 2 },
    ]);
    await batches.markHandedOver(['bat_1'], call);
    expect(asked).toEqual([{ limit: 5, maxWaitMs: 100 }, { batchIds: ['bat_1'] }]);
  });
});
