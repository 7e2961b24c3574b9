import type { DeliveryId } from '../../../../generated/ids.js';
import {
  AttemptOutcome,
  DeliveryStatus,
} from '../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import {
  type ClaimDeliveriesResponse,
  DeliveryServiceService,
  type AttemptResult as ResultMessage,
  type RetryBatch as RetryBatchMessage,
  type RetryDelivery,
} from '../../../../generated/proto/integration/webhooks/v1/sending.js';
import { MAX_ATTEMPTS } from '../../../domain/webhooks/deliveries.js';
import type { Claim } from '../../../domain/webhooks/sending/claims/claim.js';
import { DeliveryClaims } from '../../../domain/webhooks/sending/claims/claims.js';
import { giveUpDeliveries, makeDeliveriesDue } from '../../../domain/webhooks/sending/interventions.js';
import { recordResults } from '../../../domain/webhooks/sending/records.js';
import type { AttemptResult } from '../../../domain/webhooks/sending/results.js';
import {
  type FilledRetryBatch,
  MAX_BATCH_SIZE,
  RetryHandover,
} from '../../../domain/webhooks/sending/retry-batches.js';
import type { RetriedDelivery, SendingDependencies } from '../../../domain/webhooks/sending/sending.js';
import { invalidField } from '../../../errors/service-error.js';
import { actorOf } from '../../call-audit.js';
import { type Sent, serve } from '../../handlers.js';
import { assertBetween, assertNotMore, boundedMs, fromEnum } from '../fields.js';

const MAX_AT_ONCE = 1_000;
const MAX_BATCHES = 100;
/** The longest wait of a caller. */
const MAX_WAIT_MS = 60_000;
const FIRST_RETRY = 2;

export function deliveryService(dependencies: SendingDependencies) {
  const claims = new DeliveryClaims(dependencies);
  const handover = new RetryHandover(dependencies);
  const toRetryDeliveries = (deliveries: readonly RetriedDelivery[]) => ({
    deliveries: deliveries.map((delivery) => toRetryDelivery(delivery, dependencies.clock())),
  });
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
      const batches = await handover.claim(limit, maxWaitMs, signal);
      return { batches: batches.map((batch) => toRetryBatch(batch, dependencies.clock())) };
    },

    markRetryBatchesHandedOver: async ({ batchIds }) => {
      assertNotMore(batchIds, MAX_AT_ONCE, 'batch_ids');
      await handover.markHandedOver(batchIds);
      return {};
    },

    getRetryBatch: async ({ batchId }) => ({
      batch: toRetryBatch(await handover.get(batchId), dependencies.clock()),
    }),

    makeDeliveriesDue: async ({ attempts }, context) => {
      assertNotMore(attempts, MAX_BATCH_SIZE, 'attempts');
      const later = attempts.map(({ deliveryId, attemptNumber, bySignal = false }, index) => {
        assertBetween(attemptNumber, FIRST_RETRY, MAX_ATTEMPTS, `attempts[${index}].attempt_number`);
        return { id: deliveryId as DeliveryId, number: attemptNumber, bySignal };
      });
      return toRetryDeliveries(await makeDeliveriesDue(dependencies, actorOf(context), later));
    },

    giveUpDeliveries: async ({ deliveryIds }, context) => {
      assertNotMore(deliveryIds, MAX_AT_ONCE, 'delivery_ids');
      const ids = deliveryIds as DeliveryId[];
      return toRetryDeliveries(await giveUpDeliveries(dependencies, actorOf(context), ids));
    },
  });
}

const MAX_MESSAGE_LENGTH = 2_000;

const fromOutcome = fromEnum(AttemptOutcome);

/** `leasedForMs` counts from the arrival of the call, `arrivedMsAgo` milliseconds before `now`. */
function toClaimResponse(
  { leaseUntil, deliveries, targets, bodies }: Claim,
  now: number,
  arrivedMsAgo: number,
): Sent<ClaimDeliveriesResponse> {
  return {
    deliveries: deliveries.map(({ id, number, target, body, waitsSince }) => ({
      deliveryId: id,
      attemptNumber: number,
      targetIndex: target,
      bodyIndex: body,
      leaseExpiresAt: leaseUntil,
      waitedMs: waitsSince && boundedMs(now - waitsSince),
    })),
    targets,
    bodies,
    ...(deliveries.length > 0 && {
      leasedForMs: boundedMs(arrivedMsAgo + leaseUntil - now),
    }),
  };
}

function toRetryDelivery(delivery: RetriedDelivery, now: number): Sent<RetryDelivery> {
  const { id, status, nextAttemptAt, leaseUntil, lastOutcome } = delivery;
  return {
    ...delivery,
    deliveryId: id,
    status: DeliveryStatus[status],
    leaseExpiresAt: leaseUntil,
    waitMs: status === 'PENDING' ? boundedMs(Math.max(nextAttemptAt ?? 0, leaseUntil ?? 0) - now) : 0,
    lastOutcome: AttemptOutcome[lastOutcome ?? 'UNSPECIFIED'],
  };
}

/** The path of an address may be a secret, and workflows keep no secrets. */
function toRetryBatch(
  { id, url, deliveries, ...batch }: FilledRetryBatch,
  now: number,
): Sent<RetryBatchMessage> {
  const address = new URL(url).origin;
  const sent = deliveries.map((delivery) => toRetryDelivery(delivery, now));
  return { ...batch, batchId: id, address, deliveries: sent };
}

/** Shortens overlong messages of a sender: the attempt was made, and must be recorded. */
function toAttemptResult(
  { deliveryId, attempt, retryAfterSeconds }: ResultMessage,
  index: number,
): AttemptResult {
  const path = `results[${index}].attempt`;
  if (!attempt) {
    throw invalidField('An attempt is missing.', path, 'must be set');
  }
  const outcome = fromOutcome(attempt.outcome);
  if (!outcome) {
    throw invalidField('An attempt has no end.', `${path}.outcome`, 'must be how the attempt ended');
  }
  const { number, durationMs = null, httpStatus = null, message, responseStart } = attempt;
  assertBetween(number, 1, MAX_ATTEMPTS, `${path}.number`);
  return {
    deliveryId: deliveryId as DeliveryId,
    attempt: {
      number,
      outcome,
      durationMs,
      httpStatus,
      message: message === '' ? null : message.slice(0, MAX_MESSAGE_LENGTH).replaceAll('\0', ' '),
      responseStart: responseStart.length === 0 ? null : responseStart,
    },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}
