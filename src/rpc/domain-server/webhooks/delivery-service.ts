import type { DeliveryId } from '../../../../generated/ids.js';
import {
  type ClaimDeliveriesRequest,
  DeliveryServiceService,
} from '../../../../generated/proto/integration/webhooks/v1/sending.js';
import type { Clock } from '../../../domain/clock.js';
import { MAX_ATTEMPTS } from '../../../domain/webhooks/deliveries.js';
import { DeliveryClaims } from '../../../domain/webhooks/sending/claims.js';
import { makeDeliveriesDue } from '../../../domain/webhooks/sending/due.js';
import { giveUpDeliveries } from '../../../domain/webhooks/sending/give-up.js';
import { recordResults } from '../../../domain/webhooks/sending/records.js';
import { MAX_BATCH_SIZE } from '../../../domain/webhooks/sending/retry-batches.js';
import { RetryHandover } from '../../../domain/webhooks/sending/retry-handover.js';
import type { SendingDependencies } from '../../../domain/webhooks/sending/sending.js';
import { DeliveryTargets } from '../../../domain/webhooks/sending/targets.js';
import { serve } from '../../handlers.js';
import { messagesUntil } from '../../streams/messages-until.js';
import {
  assertBetween,
  assertNotMore,
  toAttemptResult,
  toClaimResponse,
  toRetryBatch,
  toRetryDelivery,
} from './sending-messages.js';

export interface DeliveryDependencies extends SendingDependencies {
  clock: Clock;
  /** A long-lived call ends after this time, so that its token is checked again. */
  longestCallMs?: number;
}

const MAX_AT_ONCE = 1_000;
const MAX_BATCHES = 100;
/** The longest wait of a caller. */
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
    mostWaitMs: number,
  ) => {
    const { freeSlots = 0, totalSlots = 0, maxRunningPerSubscription = 0, maxWaitMs = 0 } = asked ?? {};
    assertBetween(freeSlots, 1, MAX_AT_ONCE, 'free_slots');
    assertBetween(maxRunningPerSubscription, 1, MAX_AT_ONCE, 'max_running_per_subscription');
    assertBetween(maxWaitMs, 0, MAX_WAIT_MS, 'max_wait_ms');
    const limits = { freeSlots, totalSlots: Math.max(totalSlots, freeSlots), maxRunningPerSubscription };
    const claimed = await claims.claim({ ...limits, maxWaitMs: Math.min(maxWaitMs, mostWaitMs) }, caller);
    return toClaimResponse(claimed);
  };
  return serve(DeliveryServiceService, {
    keepClaimingDeliveries: async function* (requests, { signal }) {
      const endsAt = performance.now() + longestCallMs;
      const over = AbortSignal.any([dependencies.deliveriesDue.closing, AbortSignal.timeout(longestCallMs)]);
      for await (const { claim: asked } of messagesUntil(over, requests)) {
        const leftMs = Math.max(0, Math.floor(endsAt - performance.now()));
        yield { claim: await claim(asked, signal, leftMs) };
      }
    },

    recordAttempts: async ({ results }) => {
      assertNotMore(results, MAX_AT_ONCE, 'results');
      await recordResults(dependencies, results.map(toAttemptResult));
      claims.attemptsEnded();
      return {};
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

    makeDeliveriesDue: async ({ attempts }) => {
      assertNotMore(attempts, MAX_BATCH_SIZE, 'attempts');
      const later = attempts.map(({ deliveryId, attemptNumber }, index) => {
        assertBetween(attemptNumber, FIRST_RETRY, MAX_ATTEMPTS, `attempts[${index}].attempt_number`);
        return { id: deliveryId as DeliveryId, number: attemptNumber };
      });
      const deliveries = await makeDeliveriesDue(dependencies, later);
      return { deliveries: deliveries.map(toRetryDelivery) };
    },

    giveUpDeliveries: async ({ deliveryIds }) => {
      assertNotMore(deliveryIds, MAX_AT_ONCE, 'delivery_ids');
      const deliveries = await giveUpDeliveries(dependencies, deliveryIds as DeliveryId[]);
      return { deliveries: deliveries.map(toRetryDelivery) };
    },
  });
}
