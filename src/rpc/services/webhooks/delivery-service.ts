import type { DeliveryId } from '../../../../generated/ids.js';
import {
  type BeginAttemptRequest,
  type BeginAttemptResponse,
  type ClaimDeliveriesRequest,
  DeliveryServiceService,
} from '../../../../generated/proto/integration/webhooks/v1/sending.js';
import type { Clock } from '../../../domain/clock.js';
import { DeliveryClaims } from '../../../domain/webhooks/claims.js';
import { MAX_ATTEMPTS } from '../../../domain/webhooks/deliveries.js';
import { RetryHandover } from '../../../domain/webhooks/retry-handover.js';
import type { SendingDependencies } from '../../../domain/webhooks/sending.js';
import { beginAttempts } from '../../../domain/webhooks/sending-begin.js';
import { giveUpDeliveries } from '../../../domain/webhooks/sending-give-up.js';
import { recordResults } from '../../../domain/webhooks/sending-records.js';
import { DeliveryTargets } from '../../../domain/webhooks/sending-targets.js';
import { serve } from '../../handlers.js';
import { messagesUntil } from '../../messages-until.js';
import {
  assertBetween,
  assertNotMore,
  toAttemptResult,
  toBeginResponse,
  toClaimResponse,
  toRetryBatch,
  toRetryDelivery,
} from './sending-messages.js';

export interface DeliveryDependencies extends SendingDependencies {
  clock: Clock;
  /** A call that stays open ends after this time: whoever begins another shows a token that is still good. */
  longestCallMs?: number;
}

const MAX_AT_ONCE = 1_000;
/** Each brings a body, and an answer is limited. */
const MAX_BEGUN_AT_ONCE = 32;
const MAX_BATCHES = 100;
/** Longer than any caller should wait for nothing. */
const MAX_WAIT_MS = 60_000;
const LONGEST_CALL_MS = 60_000;
const FIRST_RETRY = 2;

export function deliveryService(dependencies: DeliveryDependencies) {
  const { clock, secrets, longestCallMs = LONGEST_CALL_MS } = dependencies;
  const targets = new DeliveryTargets(secrets);
  const claims = new DeliveryClaims(dependencies, targets, clock);
  const handover = new RetryHandover(dependencies, clock);
  const claim = async (
    asked: Partial<ClaimDeliveriesRequest> | undefined,
    caller: AbortSignal,
    mostWaitMs = MAX_WAIT_MS,
  ) => {
    const { freeSlots = 0, totalSlots = 0, maxRunningPerSubscription = 0, maxWaitMs = 0 } = asked ?? {};
    assertBetween(freeSlots, 1, MAX_AT_ONCE, 'free_slots');
    assertBetween(maxRunningPerSubscription, 1, MAX_AT_ONCE, 'max_running_per_subscription');
    assertBetween(maxWaitMs, 0, MAX_WAIT_MS, 'max_wait_ms');
    const limits = { freeSlots, totalSlots, maxRunningPerSubscription };
    const claimed = await claims.claim({ ...limits, maxWaitMs: Math.min(maxWaitMs, mostWaitMs) }, caller);
    return toClaimResponse(claimed);
  };
  const begin = async (asked: readonly BeginAttemptRequest[], caller: AbortSignal) => {
    const attempts = asked.map(({ deliveryId, attemptNumber }) => {
      assertBetween(attemptNumber, FIRST_RETRY, MAX_ATTEMPTS, 'attempt_number');
      return { id: deliveryId as DeliveryId, number: attemptNumber };
    });
    return (await beginAttempts({ ...dependencies, targets }, attempts, caller)).map(toBeginResponse);
  };
  return serve(DeliveryServiceService, {
    claimDeliveries: (request, { signal }) => claim(request, signal),

    keepClaimingDeliveries: async function* (requests, { signal }) {
      const endsAt = performance.now() + longestCallMs;
      const over = AbortSignal.any([dependencies.deliveriesDue.closing, AbortSignal.timeout(longestCallMs)]);
      for await (const { claim: asked } of messagesUntil(over, requests)) {
        const leftMs = Math.max(0, Math.floor(endsAt - performance.now()));
        yield { claim: await claim(asked, signal, leftMs) };
      }
    },

    beginAttempt: async (attempt, { signal }) => {
      const [beginning] = await begin([attempt], signal);
      return beginning as BeginAttemptResponse;
    },

    beginAttempts: async ({ attempts }, { signal }) => {
      assertNotMore(attempts, MAX_BEGUN_AT_ONCE, 'attempts');
      return { beginnings: await begin(attempts, signal) };
    },

    recordAttempts: async ({ results }) => {
      assertNotMore(results, MAX_AT_ONCE, 'results');
      const deliveries = await recordResults(dependencies, results.map(toAttemptResult));
      claims.attemptsEnded();
      return { deliveries: deliveries.map(toRetryDelivery) };
    },

    claimRetryBatches: async ({ limit, maxWaitMs }, { signal }) => {
      assertBetween(limit, 1, MAX_BATCHES, 'limit');
      assertBetween(maxWaitMs, 0, MAX_WAIT_MS, 'max_wait_ms');
      return { batches: (await handover.claim(limit, maxWaitMs, signal)).map(toRetryBatch) };
    },

    markRetryBatchesHandedOver: async ({ batchIds }) => {
      assertNotMore(batchIds, MAX_AT_ONCE, 'batch_ids');
      await handover.markHandedOver(batchIds);
      return {};
    },

    getRetryBatch: async ({ batchId }) => ({ batch: toRetryBatch(await handover.get(batchId)) }),

    giveUpDeliveries: async ({ deliveryIds }) => {
      assertNotMore(deliveryIds, MAX_AT_ONCE, 'delivery_ids');
      const deliveries = await giveUpDeliveries(dependencies, deliveryIds as DeliveryId[]);
      return { deliveries: deliveries.map(toRetryDelivery) };
    },
  });
}
