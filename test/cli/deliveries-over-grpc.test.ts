import { describe, expect, test } from '@jest/globals';
import { AttemptOutcome } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import { DeliveryServiceService } from '../../generated/proto/integration/webhooks/v1/sending.js';
import { deliveriesOver } from '../../src/cli/roles/deliveries-over-grpc.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';
import { type Handlers, serve } from '../../src/rpc/handlers.js';
import { refusalOf, rpcRigs } from '../rpc/rig.js';

const at = new Date('2026-07-01T10:00:00Z');
const CALL = { deadlineMs: 20_000 };
const CLAIM = {
  workerId: 'worker-1',
  freeSlots: 7,
  totalSlots: 9,
  maxRunningPerSubscription: 3,
  maxWaitMs: 10_000,
};
const CLAIMED = {
  deliveries: [{ deliveryId: 'whd_1', targetIndex: 0, bodyIndex: 0, leaseExpiresAt: at, attemptNumber: 2 }],
  targets: [{ subscriptionId: 'whs_1', url: 'https://a.example/', signingSecrets: [Buffer.alloc(32, 1)] }],
  bodies: [{ eventId: 'evt_1', eventType: 'user.updated', body: Buffer.from('{}') }],
};

describe('what the relay asks of the domain', () => {
  const rigs = rpcRigs();

  async function serving(handlers: Handlers<typeof DeliveryServiceService>) {
    const rig = await rigs.start([serve(DeliveryServiceService, handlers)]);
    return { deliveries: deliveriesOver(rig.channel()), lines: rig.lines };
  }

  test('is answered with what it claims, again and again in one call', async () => {
    let calls = 0;
    const asked: unknown[] = [];
    const { deliveries } = await serving({
      keepClaimingDeliveries: async function* (requests) {
        calls += 1;
        for await (const { claim } of requests) {
          asked.push(claim);
          yield { claim: CLAIMED };
        }
      },
    });
    expect(await deliveries.claimDeliveries(CLAIM, CALL)).toEqual(CLAIMED);
    expect(await deliveries.claimDeliveries({ ...CLAIM, freeSlots: 6 }, CALL)).toEqual(CLAIMED);
    expect(asked).toEqual([CLAIM, { ...CLAIM, freeSlots: 6 }]);
    expect(calls).toBe(1);
  });

  test('takes an answer that says nothing for one that brings nothing', async () => {
    const { deliveries } = await serving({
      keepClaimingDeliveries: async function* (requests) {
        for await (const _ of requests) {
          yield { claim: undefined };
        }
      },
    });
    expect(await deliveries.claimDeliveries(CLAIM, CALL)).toEqual({
      deliveries: [],
      targets: [],
      bodies: [],
    });
  });

  test('fails with what the domain refuses it with', async () => {
    const { deliveries } = await serving({
      keepClaimingDeliveries: () => {
        throw new ServiceError(ErrorCode.INVALID_REQUEST, 'No such thing.');
      },
    });
    const refusal = await refusalOf(deliveries.claimDeliveries(CLAIM, CALL));
    expect([refusal.code, refusal.message]).toEqual([ErrorCode.INVALID_REQUEST, 'No such thing.']);
  });

  test('gives a claim up after its time or its signal says so, and asks again', async () => {
    const { deliveries } = await serving({
      keepClaimingDeliveries: async function* (requests) {
        for await (const { claim } of requests) {
          yield claim?.maxWaitMs === 0 ? { claim: CLAIMED } : await new Promise<never>(() => undefined);
        }
      },
    });
    const late = deliveries.claimDeliveries(CLAIM, { deadlineMs: 50 });
    expect((await refusalOf(late)).code).toBe(ErrorCode.UNAVAILABLE);
    const cancel = new AbortController();
    const reason = new Error('the relay stops');
    const unwanted = deliveries.claimDeliveries(CLAIM, { ...CALL, signal: cancel.signal });
    cancel.abort(reason);
    await expect(unwanted).rejects.toBe(reason);
    expect(await deliveries.claimDeliveries({ ...CLAIM, maxWaitMs: 0 }, CALL)).toEqual(CLAIMED);
  });

  test('records how attempts ended in calls of their own, while a claim waits', async () => {
    const asked: unknown[] = [];
    const { deliveries, lines } = await serving({
      keepClaimingDeliveries: async function* (requests) {
        for await (const _ of requests) {
          yield await new Promise<never>(() => undefined);
        }
      },
      recordAttempts: async ({ results }) => {
        asked.push(...results);
        return {};
      },
    });
    const cancel = new AbortController();
    const waiting = deliveries.claimDeliveries(CLAIM, { ...CALL, signal: cancel.signal });
    const attempt = {
      ...{ number: 1, startedAt: at, outcome: AttemptOutcome.SUCCEEDED, durationMs: 12, httpStatus: 204 },
      ...{ message: '', responseStart: Buffer.alloc(0) },
    };
    const results = [{ deliveryId: 'whd_1', attempt, retryAfterSeconds: undefined }];
    expect(await deliveries.recordAttempts({ results }, { requestId: 'relay/1' })).toEqual({});
    expect(asked).toEqual(results);
    expect(lines).toMatchObject([{ requestId: 'relay/1' }]);
    cancel.abort();
    await expect(waiting).rejects.toBeDefined();
  });
});
