import {
  MaintenanceServiceService,
  type PurgedKind,
  type SigningKeyStep,
} from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import {
  AttemptOutcome,
  DeliveryStatus,
} from '../../../generated/proto/integration/webhooks/v1/deliveries.js';
import {
  DeliveryServiceService,
  type RetryDelivery,
} from '../../../generated/proto/integration/webhooks/v1/sending.js';
import type { Maintenance } from '../../../workflows/activities/maintenance.js';
import type { RetryingDomain } from '../../../workflows/activities/webhook-retry.js';
import type { CodeMinute, CodeMinuteList } from '../../../workflows/code-minutes.js';
import type { RetryState, RetryStatus } from '../../../workflows/contract.js';
import type { RetryBatchList } from '../../../workflows/retry-batches.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { RpcChannel } from '../../rpc/client.js';

/** Longer than any batch takes, and shorter than Temporal's limit for a step. */
const MAINTENANCE_DEADLINE_MS = 20_000;
/** Shorter than Temporal's limit for a step, and than a lease. */
const RETRY_DEADLINE_MS = 10_000;
/** The deadline of a waiting call exceeds its wait by this much. */
const ANSWER_MARGIN_MS = 5_000;

const STATUSES: Partial<Record<DeliveryStatus, RetryStatus>> = {
  [DeliveryStatus.PENDING]: 'PENDING',
  [DeliveryStatus.DELIVERED]: 'DELIVERED',
  [DeliveryStatus.EXHAUSTED]: 'EXHAUSTED',
  [DeliveryStatus.HELD]: 'HELD',
  [DeliveryStatus.CANCELLED]: 'CANCELLED',
};

export function maintenanceOver(domain: RpcChannel): Maintenance {
  const client = domain.clientOf(MaintenanceServiceService);
  const deadlineMs = MAINTENANCE_DEADLINE_MS;
  return {
    purgeExpired: async (request, call) => {
      const { counts, more, otherRunActive } = await client.purgeExpired(request, { ...call, deadlineMs });
      const deleted = Object.fromEntries(counts.map(({ kind, count }) => [nameOf(kind), count]));
      return { deleted, more, otherRunActive };
    },
    expireAuthorizationCodes: async (request, call) => {
      const answer = await client.expireAuthorizationCodes(request, { ...call, deadlineMs });
      const { issued, redeemed, expired, retryInMs = null } = answer;
      return { issued, redeemed, expired, retryInMs };
    },
    advanceSigningKeys: async (call) => {
      const { changes, nextDueAt } = await client.advanceSigningKeys({}, { ...call, deadlineMs });
      return {
        changes: changes.map(({ kid, step }) => ({ kid, step: nameOf(step) })),
        nextDueAt: nextDueAt?.toISOString() ?? null,
      };
    },
  };
}

/** The minutes for which the worker starts expiry workflows. */
export function codeMinutesOver(domain: RpcChannel): CodeMinuteList {
  const client = domain.clientOf(MaintenanceServiceService);
  return {
    toWatch: async (limit, call) => {
      const { minutes } = await client.listCodeMinutesToWatch({ limit }, call);
      return minutes.flatMap(({ minute, expiresAt, expiresInMs = 0 }): CodeMinute[] =>
        minute && expiresAt ? [{ minute, expiresAt, expiresInMs }] : [],
      );
    },
    markWatched: async (minutes, call) => {
      await client.markCodeMinutesWatched({ minutes }, call);
    },
  };
}

export function retriesOver(domain: RpcChannel): RetryingDomain {
  const client = domain.clientOf(DeliveryServiceService);
  const deadlineMs = RETRY_DEADLINE_MS;
  return {
    retryBatch: async (batchId, call) => {
      const { batch } = await client
        .getRetryBatch({ batchId }, { ...call, deadlineMs })
        .catch(noneWherePurged);
      return (batch?.deliveries ?? []).map(toState);
    },
    makeDue: async (attempts, call) => {
      const { deliveries } = await client.makeDeliveriesDue({ attempts }, { ...call, deadlineMs });
      return deliveries.map(toState);
    },
    giveUp: async (deliveryIds, call) => {
      const { deliveries } = await client.giveUpDeliveries({ deliveryIds }, { ...call, deadlineMs });
      return deliveries.map(toState);
    },
  };
}

export function retryBatchesOver(domain: RpcChannel): RetryBatchList {
  const client = domain.clientOf(DeliveryServiceService);
  return {
    toHandOver: async (request, call) => {
      const deadlineMs = request.maxWaitMs + ANSWER_MARGIN_MS;
      const { batches } = await client.claimRetryBatches(request, { ...call, deadlineMs });
      return batches.map(({ deliveries, ...batch }) => ({
        ...batch,
        reason: reasonOf(deliveries),
        deliveries: deliveries.map(({ deliveryId }) => deliveryId),
      }));
    },
    markHandedOver: async (batchIds, call) => {
      await client.markRetryBatchesHandedOver({ batchIds }, { ...call, deadlineMs: RETRY_DEADLINE_MS });
    },
  };
}

function noneWherePurged(error: unknown): { batch: undefined } {
  if (error instanceof ServiceError && error.code === ErrorCode.RETRY_BATCH_NOT_FOUND) {
    return { batch: undefined };
  }
  throw error;
}

/** Delays instead of times, because a workflow reads no clock of ours. */
function toState(delivery: RetryDelivery): RetryState {
  const { deliveryId, attemptsBegun, nextAttemptAt, leaseExpiresAt, lastOutcome, lastHttpStatus } = delivery;
  const status = STATUSES[delivery.status];
  if (status === undefined) {
    throw new Error(`The domain says that delivery ${deliveryId} is ${delivery.status}, which is unknown.`);
  }
  const isPending = status === 'PENDING';
  return {
    deliveryId,
    status,
    attemptsBegun,
    nextAttemptAt: (isPending && nextAttemptAt?.toISOString()) || null,
    lastAttempt: attemptInWords(lastOutcome, lastHttpStatus) ?? null,
    waitMs: delivery.waitMs ?? 0,
    isUnderWay: leaseExpiresAt !== undefined,
  };
}

/** How the last attempts ended: `answered 503`, or `answered 503 (11), timed out (1)`. */
function reasonOf(deliveries: readonly RetryDelivery[]): string {
  const counts = new Map<string, number>();
  for (const { lastOutcome, lastHttpStatus } of deliveries) {
    const words = attemptInWords(lastOutcome, lastHttpStatus) ?? 'under way';
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  const ordered = [...counts].sort(([, one], [, other]) => other - one);
  return ordered.map(([words, count]) => (ordered.length === 1 ? words : `${words} (${count})`)).join(', ');
}

/** `answered 503`, `timed out`; without the sender's sentence, which may name hosts. */
function attemptInWords(outcome: AttemptOutcome, httpStatus: number | undefined): string | undefined {
  const isAnswer = outcome === AttemptOutcome.SUCCEEDED || outcome === AttemptOutcome.STATUS_REFUSED;
  if (isAnswer && httpStatus !== undefined) {
    return `answered ${httpStatus}`;
  }
  return outcome === AttemptOutcome.UNSPECIFIED ? undefined : nameOf(outcome);
}

/** `PURGED_KIND_AUTHORIZATION_CODE` becomes `authorization code`. */
function nameOf(value: PurgedKind | SigningKeyStep | AttemptOutcome): string {
  return value
    .replace(/^(PURGED_KIND|SIGNING_KEY_STEP|ATTEMPT_OUTCOME)_/, '')
    .replaceAll('_', ' ')
    .toLowerCase();
}
