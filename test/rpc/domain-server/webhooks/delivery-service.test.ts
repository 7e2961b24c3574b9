import { describe, expect, jest, test } from '@jest/globals';
import {
  AttemptOutcome,
  type DeliveryAttempt,
  DeliveryStatus,
} from '../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import {
  type ClaimDeliveriesRequest,
  DeliveryServiceService,
} from '../../../../generated/proto/integration/webhooks/v1/sending.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { deliveryService } from '../../../../src/rpc/domain-server/webhooks/delivery-service.js';
import { LEASE_MS, sendingRig } from '../../../store/adapters/webhooks/sending/rig.js';
import {
  type DatabaseUnderTest,
  databaseUnderTest,
  describeEachDatabase,
} from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { CALL, refusalOf, rpcRigs } from '../../rig.js';

const CLAIM = {
  freeSlots: 10,
  totalSlots: 10,
  maxRunningPerSubscription: 10,
  maxWaitMs: 0,
};
const NOTHING = { deliveries: [], targets: [], bodies: [] };

const FAILED: DeliveryAttempt = {
  // A worker whose clock is far behind.
  ...{ number: 1, startedAt: new Date(0), outcome: AttemptOutcome.STATUS_REFUSED, durationMs: 9 },
  ...{ httpStatus: 503, message: 'The receiver answered 503.', responseStart: Buffer.from('later') },
};

function deliveryServing(under: DatabaseUnderTest) {
  const rigs = rpcRigs();
  return async () => {
    const sending = await sendingRig(under);
    const service = deliveryService({ ...sending.dependencies, clock: sending.clock.now });
    const { channel, timed } = await rigs.start([service]);
    const client = channel().clientOf(DeliveryServiceService);
    return {
      ...{ ...sending, timed, client },
      askFor: (claim: Partial<ClaimDeliveriesRequest>, signal?: AbortSignal) =>
        client.claimDeliveries({ ...CLAIM, ...claim }, signal ? { ...CALL, signal } : CALL),
    };
  };
}

describeEachDatabase('deliveries over gRPC', (under) => {
  const serving = deliveryServing(under);

  test('go from the claim over failures and a batch to their end', async () => {
    const { client, clock, connection, askFor, ...rig } = await serving();
    const subscriptionId = await rig.subscribe();
    await rig.happen();
    clock.advance(250);
    const claim = await askFor({});
    const deliveryId = claim.deliveries[0]?.deliveryId as string;
    const leaseExpiresAt = new Date(clock.now() + LEASE_MS);
    expect(claim).toEqual({
      deliveries: [
        { deliveryId, targetIndex: 0, bodyIndex: 0, leaseExpiresAt, attemptNumber: 1, waitedMs: 250 },
      ],
      targets: [
        {
          subscriptionId,
          url: 'https://hooks.example.com/in',
          signingSecrets: [expect.any(Buffer)],
        },
      ],
      bodies: [{ eventId: expect.any(String), eventType: 'user.updated', body: expect.any(Buffer) }],
      leasedForMs: expect.any(Number),
    });
    expect(claim.targets[0]?.signingSecrets[0]).toHaveLength(32);

    const result = { deliveryId, attempt: FAILED, retryAfterSeconds: 40 };
    const waiting = {
      ...{ deliveryId, status: DeliveryStatus.PENDING, attemptsBegun: 1, leaseExpiresAt: undefined },
      ...{ lastOutcome: AttemptOutcome.STATUS_REFUSED, lastHttpStatus: 503 },
    };
    const nextAttemptAt = new Date(clock.now() + 40_000);
    expect(await client.recordAttempts({ results: [result] }, CALL)).toEqual({});
    expect(await rig.attempts(deliveryId)).toMatchObject([{ number: 1, started_at: clock.now() }]);
    clock.advance(2_000);
    const { batches } = await client.claimRetryBatches({ limit: 5, maxWaitMs: 0 }, CALL);
    const batchId = batches[0]?.batchId as string;
    const batch = {
      ...{ batchId, subscriptionId, instanceIntegrationId: connection.id, eventTypes: ['user.updated'] },
      deliveries: [{ ...waiting, nextAttemptAt, waitMs: 38_000 }],
      address: 'https://hooks.example.com',
    };
    expect(batches).toEqual([batch]);
    expect(await client.getRetryBatch({ batchId }, CALL)).toEqual({ batch });
    await client.markRetryBatchesHandedOver({ batchIds: [batchId] }, CALL);
    expect(await client.claimRetryBatches({ limit: 5, maxWaitMs: 0 }, CALL)).toEqual({ batches: [] });

    const second = { attempts: [{ deliveryId, attemptNumber: 2, bySignal: true }] };
    for (const byTime of [{}, { bySignal: false }]) {
      const attempts = [{ deliveryId, attemptNumber: 2, ...byTime }];
      expect(await client.makeDeliveriesDue({ attempts }, CALL)).toEqual({
        deliveries: [{ ...waiting, nextAttemptAt, waitMs: 38_000 }],
      });
    }
    expect(await client.makeDeliveriesDue(second, CALL)).toEqual({
      deliveries: [{ ...waiting, nextAttemptAt: new Date(clock.now()), waitMs: 0 }],
    });
    const again = await askFor({});
    expect(again).toEqual({
      ...claim,
      leasedForMs: expect.any(Number),
      deliveries: [
        {
          ...claim.deliveries[0],
          ...{ attemptNumber: 2, waitedMs: undefined, leaseExpiresAt: new Date(clock.now() + LEASE_MS) },
        },
      ],
    });
    expect(await client.makeDeliveriesDue(second, CALL)).toEqual({
      deliveries: [
        {
          ...{ deliveryId, status: DeliveryStatus.PENDING, attemptsBegun: 2, nextAttemptAt: undefined },
          ...{ leaseExpiresAt: new Date(clock.now() + LEASE_MS), lastHttpStatus: undefined },
          ...{ lastOutcome: AttemptOutcome.UNSPECIFIED, waitMs: LEASE_MS },
        },
      ],
    });
    expect(await client.giveUpDeliveries({ deliveryIds: [deliveryId] }, CALL)).toMatchObject({
      deliveries: [{ status: DeliveryStatus.EXHAUSTED, attemptsBegun: 2, waitMs: 0 }],
    });
    const audited = rig.database.reader.selectFrom('audit_events');
    const signalled = { actor_id: 'relay', request_id: CALL.requestId, subject_id: subscriptionId };
    expect(await audited.select(['type', 'actor_id', 'request_id', 'subject_id']).execute()).toEqual([
      { type: 'deliveries.retried', ...signalled },
      { type: 'deliveries.given_up', ...signalled },
    ]);
    const attempt = { ...FAILED, number: 2, outcome: AttemptOutcome.SUCCEEDED, httpStatus: 204 };
    await client.recordAttempts({ results: [{ deliveryId, attempt }] }, CALL);
    const third = { attempts: [{ deliveryId, attemptNumber: 3 }] };
    expect(await client.makeDeliveriesDue(third, CALL)).toMatchObject({
      deliveries: [
        { status: DeliveryStatus.DELIVERED, lastOutcome: AttemptOutcome.SUCCEEDED, lastHttpStatus: 204 },
      ],
    });
    expect(await askFor({})).toEqual(NOTHING);
  });

  test('are claimed again and again, and a claim waits for the next one', async () => {
    const { client, askFor, ...rig } = await serving();
    const subscriptionId = await rig.subscribe();
    for (let count = 0; count < 3; count += 1) {
      await rig.happen();
    }
    const first = await askFor({ freeSlots: 2, totalSlots: 2 });
    expect(first).toMatchObject({
      deliveries: [
        { targetIndex: 0, bodyIndex: 0, leaseExpiresAt: new Date(rig.clock.now() + LEASE_MS) },
        { targetIndex: 0, bodyIndex: 1, leaseExpiresAt: new Date(rig.clock.now() + LEASE_MS) },
      ],
      targets: [
        { subscriptionId, url: 'https://hooks.example.com/in', signingSecrets: [expect.any(Buffer)] },
      ],
      bodies: Array(2).fill({ eventId: expect.any(String), eventType: 'user.updated' }),
    });
    const second = await askFor({});
    expect(second.deliveries).toHaveLength(1);
    expect(await askFor({})).toEqual(NOTHING);
    const waiting = askFor({ maxWaitMs: 60_000 });
    // When this call is answered, the waiting one before it has arrived.
    await client.markRetryBatchesHandedOver({ batchIds: [] }, CALL);
    const now = performance.now.bind(performance);
    const later = jest.spyOn(performance, 'now').mockImplementation(() => now() + 7_000);
    await rig.happen();
    const third = await waiting;
    later.mockRestore();
    expect(third.deliveries).toHaveLength(1);
    expect(third.leasedForMs).toBeGreaterThanOrEqual(LEASE_MS + 7_000);

    const claimed = [first, second, third].flatMap(({ deliveries }) => deliveries);
    const ids = (await rig.deliveries()).map(({ id, attempts_begun }) => [id, attempts_begun]);
    expect(new Map(claimed.map(({ deliveryId }) => [deliveryId, 1]))).toEqual(new Map(ids as never));
    expect(claimed).toHaveLength(4);
  });

  test('wake a claim that was held back, when their results are recorded', async () => {
    const { client, askFor, ...rig } = await serving();
    await rig.subscribe();
    await rig.happen();
    await rig.happen();
    const { deliveries } = await askFor({ maxRunningPerSubscription: 1 });
    const { count } = rig.deliveriesDue;
    const results = deliveries.map(({ deliveryId }) => ({ deliveryId, attempt: FAILED }));
    await client.recordAttempts({ results }, CALL);
    expect(rig.deliveriesDue.count).toBe(count + 1);
  });

  test.each([
    [AttemptOutcome.STATUS_REFUSED, 16_384],
    [AttemptOutcome.SUCCEEDED, 1_024],
  ])(
    'keep of an answer and a sentence what there is room for, whatever is in them (%s)',
    async (outcome, bytes) => {
      const { client, askFor, ...rig } = await serving();
      await rig.subscribe();
      await rig.happen();
      const { deliveries } = await askFor({});
      const deliveryId = deliveries[0]?.deliveryId as string;
      const responseStart = Buffer.alloc(20_000, 'x');
      const attempt = { ...FAILED, outcome, message: `a\0b${'c'.repeat(3_000)}`, responseStart };
      await client.recordAttempts({ results: [{ deliveryId, attempt }] }, CALL);
      const [kept] = await rig.attempts(deliveryId);
      expect(kept?.message).toMatch(/^a bc{1997}$/);
      expect(Buffer.from(kept?.response_start as string, 'base64')).toEqual(responseStart.subarray(0, bytes));
    },
  );
});

describe('a waiting claim over gRPC', () => {
  const serving = deliveryServing(databaseUnderTest('SQLite'));

  test('ends when the domain drains', async () => {
    const { client, deliveriesDue } = await serving();
    const waiting = client.claimRetryBatches({ limit: 1, maxWaitMs: 60_000 }, CALL);
    // A separate call, so that those before it have arrived.
    await client.markRetryBatchesHandedOver({ batchIds: [] }, CALL);
    deliveriesDue.close();
    expect(await waiting).toEqual({ batches: [] });
  });

  test('for deliveries goes home as well, and claims nothing afterwards', async () => {
    const { askFor, client, deliveriesDue, ...rig } = await serving();
    const waiting = askFor({ maxWaitMs: 60_000 });
    await client.markRetryBatchesHandedOver({ batchIds: [] }, CALL);
    deliveriesDue.close();
    expect(await waiting).toEqual(NOTHING);
    await rig.subscribe();
    await rig.happen();
    expect(await askFor({ maxWaitMs: 60_000 })).toEqual(NOTHING);
    expect(await rig.deliveries()).toMatchObject([{ attempts_begun: 0 }]);
  });

  test('takes nothing when its caller hung up before', async () => {
    const { client, askFor, timed, ...rig } = await serving();
    await rig.subscribe();
    const caller = new AbortController();
    const waiting = askFor({ maxWaitMs: 60_000 }, caller.signal);
    await client.markRetryBatchesHandedOver({ batchIds: [] }, CALL);
    caller.abort();
    await expect(waiting).rejects.toBeDefined();
    await eventually('its call ends', () => timed.some(({ code }) => code === 'CANCELLED'));
    await rig.happen();
    expect(await rig.deliveries()).toMatchObject([{ attempts_begun: 0 }]);
    expect((await askFor({ maxWaitMs: 5_000 })).deliveries).toHaveLength(1);
  });

  type Served = Awaited<ReturnType<typeof serving>>;
  type ServiceClient = Served['client'];
  const many = Array.from({ length: 1_001 }, () => 'whd_1');
  const result = (attempt: Partial<DeliveryAttempt> | undefined) => ({
    deliveryId: 'whd_1',
    attempt: attempt && { ...FAILED, ...attempt },
  });
  const later = (...numbers: number[]) => ({
    attempts: numbers.map((attemptNumber) => ({ deliveryId: 'whd_1', attemptNumber })),
  });
  const recording = (client: ServiceClient, attempt: Partial<DeliveryAttempt> | undefined) =>
    client.recordAttempts({ results: [result({}), result(attempt)] }, CALL);

  test.each<[path: string, what: string, ask: (served: Served) => Promise<unknown>]>([
    ['free_slots', 'none of many', ({ askFor }) => askFor({ freeSlots: 0 })],
    ['free_slots', 'too many of many', ({ askFor }) => askFor({ freeSlots: 1_001 })],
    [
      'max_running_per_subscription',
      'none of many',
      ({ askFor }) => askFor({ maxRunningPerSubscription: 0 }),
    ],
    ['max_wait_ms', 'too long of many', ({ askFor }) => askFor({ maxWaitMs: 60_001 })],
    ['attempts[1].attempt_number', 'the first', ({ client }) => client.makeDeliveriesDue(later(2, 1), CALL)],
    ['attempts[1].attempt_number', 'a fourth', ({ client }) => client.makeDeliveriesDue(later(3, 4), CALL)],
    ['attempts', 'too many', ({ client }) => client.makeDeliveriesDue(later(...Array(101).fill(2)), CALL)],
    ['limit', 'none', ({ client }) => client.claimRetryBatches({ limit: 0, maxWaitMs: 0 }, CALL)],
    ['limit', 'too many', ({ client }) => client.claimRetryBatches({ limit: 101, maxWaitMs: 0 }, CALL)],
    ['batch_ids', 'too many', ({ client }) => client.markRetryBatchesHandedOver({ batchIds: many }, CALL)],
    ['delivery_ids', 'too many', ({ client }) => client.giveUpDeliveries({ deliveryIds: many }, CALL)],
    [
      'results',
      'too many',
      ({ client }) => client.recordAttempts({ results: many.map(() => result({})) }, CALL),
    ],
    ['results[1].attempt', 'nothing', ({ client }) => recording(client, undefined)],
    ['results[1].attempt.number', 'zero', ({ client }) => recording(client, { number: 0 })],
    ['results[1].attempt.number', 'a fourth', ({ client }) => recording(client, { number: 4 })],
    [
      'results[1].attempt.outcome',
      'one that runs',
      ({ client }) => recording(client, { outcome: AttemptOutcome.UNSPECIFIED }),
    ],
  ])('is refused %s: %s', async (path, _, ask) => {
    const refusal = await refusalOf(ask(await serving()));
    expect(refusal.code).toBe(ErrorCode.INVALID_REQUEST);
    expect(refusal.fieldViolations.map((violation) => violation.path)).toEqual([path]);
  });
});
