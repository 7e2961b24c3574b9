import type { DeliveryId } from '../../../../generated/ids.js';
import { DeliveryServiceService } from '../../../../generated/proto/integration/webhooks/v1/sending.js';
import { MAX_ATTEMPTS } from '../../../domain/webhooks/deliveries.js';
import { DeliveryClaims } from '../../../domain/webhooks/sending/claims/claims.js';
import { giveUpDeliveries, makeDeliveriesDue } from '../../../domain/webhooks/sending/interventions.js';
import { recordResults } from '../../../domain/webhooks/sending/records.js';
import { MAX_BATCH_SIZE } from '../../../domain/webhooks/sending/retry-batches.js';
import { RetryHandover } from '../../../domain/webhooks/sending/retry-handover.js';
import type { SendingDependencies } from '../../../domain/webhooks/sending/sending.js';
import { serve } from '../../handlers.js';
import {
  assertBetween,
  assertNotMore,
  toAttemptResult,
  toClaimResponse,
  toRetryBatch,
  toRetryDelivery,
} from './sending-messages.js';

const MAX_AT_ONCE = 1_000;
const MAX_BATCHES = 100;
/** The longest wait of a caller. */
const MAX_WAIT_MS = 60_000;
const FIRST_RETRY = 2;

export function deliveryService(dependencies: SendingDependencies) {
  const claims = new DeliveryClaims(dependencies);
  const handover = new RetryHandover(dependencies);
  return serve(DeliveryServiceService, {
    claimDeliveries: async (request, { signal }) => {
      const arrivedAt = performance.now();
      const { freeSlots, totalSlots, maxRunningPerSubscription, maxWaitMs } = request;
      assertBetween(freeSlots, 1, MAX_AT_ONCE, 'free_slots');
      assertBetween(maxRunningPerSubscription, 1, MAX_AT_ONCE, 'max_running_per_subscription');
      assertBetween(maxWaitMs, 0, MAX_WAIT_MS, 'max_wait_ms');
      const slots = { freeSlots, totalSlots: Math.max(totalSlots, freeSlots) };
      const claim = await claims.claim({ ...slots, maxRunningPerSubscription, maxWaitMs }, signal);
      const arrivedMsAgo = performance.now() - arrivedAt;
      return toClaimResponse(claim, dependencies.clock(), arrivedMsAgo);
    },

    recordAttempts: async ({ results }) => {
      assertNotMore(results, MAX_AT_ONCE, 'results');
      await recordResults(dependencies, results.map(toAttemptResult), () => claims.attemptsEnded());
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
