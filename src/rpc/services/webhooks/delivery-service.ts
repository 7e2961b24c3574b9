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
}

const MAX_AT_ONCE = 1_000;
/** Each brings a body, and an answer is limited. */
const MAX_BEGUN_AT_ONCE = 32;
const MAX_BATCHES = 100;
/** Longer than any caller should wait for nothing. */
const MAX_WAIT_MS = 60_000;
const FIRST_RETRY = 2;

export function deliveryService(dependencies: DeliveryDependencies) {
  const { clock, secrets } = dependencies;
  const targets = new DeliveryTargets(secrets);
  const claims = new DeliveryClaims(dependencies, targets, clock);
  const handover = new RetryHandover(dependencies, clock);
  const claim = async (asked: Partial<ClaimDeliveriesRequest> | undefined, caller: AbortSignal) => {
    const { freeSlots = 0, totalSlots = 0, maxRunningPerSubscription = 0, maxWaitMs = 0 } = asked ?? {};
    assertBetween(freeSlots, 1, MAX_AT_ONCE, 'free_slots');
    assertBetween(maxRunningPerSubscription, 1, MAX_AT_ONCE, 'max_running_per_subscription');
    assertBetween(maxWaitMs, 0, MAX_WAIT_MS, 'max_wait_ms');
    return toClaimResponse(
      await claims.claim({ freeSlots, totalSlots, maxRunningPerSubscription, maxWaitMs }, caller),
    );
  };
  const begin = async (asked: readonly BeginAttemptRequest[]) => {
    const attempts = asked.map(({ deliveryId, attemptNumber }) => {
      assertBetween(attemptNumber, FIRST_RETRY, MAX_ATTEMPTS, 'attempt_number');
      return { id: deliveryId as DeliveryId, number: attemptNumber };
    });
    return (await beginAttempts({ ...dependencies, targets }, attempts)).map(toBeginResponse);
  };
  return serve(DeliveryServiceService, ['service'], {
    claimDeliveries: (request, { signal }) => claim(request, signal),

    keepClaimingDeliveries: async function* (requests, { signal }) {
      for await (const request of requests) {
        yield { claim: await claim(request.claim, signal) };
        if (dependencies.deliveriesDue.closing.aborted) {
          return;
        }
      }
    },

    beginAttempt: async (attempt) => {
      const [beginning] = await begin([attempt]);
      return beginning as BeginAttemptResponse;
    },

    beginAttempts: async ({ attempts }) => {
      assertNotMore(attempts, MAX_BEGUN_AT_ONCE, 'attempts');
      return { beginnings: await begin(attempts) };
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
