import { DeliveryStatus } from '../../../generated/proto/integration/webhooks/v1/deliveries.js';
import {
  AttemptRefusalReason,
  type AttemptResult,
  type BeginAttemptResponse,
  DeliveryServiceService,
  type RetryDelivery,
} from '../../../generated/proto/integration/webhooks/v1/sending.js';
import type { DomainCall } from '../../../workflows/activities/domain-call.js';
import {
  type AttemptBeginning,
  ResultRefused,
  type RetriedDelivery,
  type RetryingDomain,
} from '../../../workflows/activities/retry-ports.js';
import type { AttemptToMake } from '../../../workflows/contract.js';
import type { RetryBatchList } from '../../../workflows/retry-batches.js';
import { attemptResultOf } from '../../delivery/attempt-result.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { RpcChannel } from '../../rpc/client.js';
import { gathered } from '../../rpc/gathered.js';

/** Shorter than the time that Temporal gives a step, and than a lease. */
const STEP_DEADLINE_MS = 10_000;
/** A call that waits for something to do is given so much longer than it waits. */
const ANSWER_MARGIN_MS = 5_000;

/** What a round begins at once is asked for at once. */
const BEGIN_TOGETHER = { most: 32, withinMs: 0 };
/**
 * How attempts ended is told a moment later, with others that end by then: a commit of the domain costs the same for one as for many. With the longest
 * answers of receivers, so many are as much as the domain reads of one request.
 */
const RECORD_TOGETHER = { most: 10, withinMs: 5 };

interface Asked<What> {
  what: What;
  call: DomainCall;
}

const STATUSES: Partial<Record<DeliveryStatus, RetriedDelivery['status']>> = {
  [DeliveryStatus.PENDING]: 'PENDING',
  [DeliveryStatus.DELIVERED]: 'DELIVERED',
  [DeliveryStatus.EXHAUSTED]: 'EXHAUSTED',
  [DeliveryStatus.HELD]: 'HELD',
  [DeliveryStatus.CANCELLED]: 'CANCELLED',
};

/** What the activities of `webhookRetry` ask of the domain. */
export function retriesOver(domain: RpcChannel, workerId: string): RetryingDomain {
  const client = domain.clientOf(DeliveryServiceService);
  const deadlineMs = STEP_DEADLINE_MS;
  const begin = gathered(BEGIN_TOGETHER, async (asked: Asked<AttemptToMake>[]) => {
    const attempts = asked.map(({ what }) => ({ workerId, ...what }));
    const { beginnings } = await client.beginAttempts({ attempts }, { ...firstOf(asked), deadlineMs });
    return beginnings;
  });
  const record = gathered(RECORD_TOGETHER, async (asked: Asked<AttemptResult>[]) => {
    const results = asked.map(({ what }) => what);
    const { deliveries } = await client.recordAttempts({ results }, { ...firstOf(asked), deadlineMs });
    const byId = new Map(deliveries.map((delivery) => [delivery.deliveryId, delivery]));
    return results.map(({ deliveryId }) => byId.get(deliveryId));
  });
  return {
    retryBatch: async (batchId, call) => {
      const { batch } = await client
        .getRetryBatch({ batchId }, { ...call, deadlineMs })
        .catch(noneWherePurged);
      return (batch?.deliveries ?? []).map(toDelivery);
    },
    beginAttempt: async (what, call) => toBeginning(await begin({ what, call })),
    recordAttempt: async ({ deliveryId, attemptNumber }, report, call) => {
      const what = attemptResultOf(deliveryId, attemptNumber, report);
      const delivery = await record({ what, call }).catch(refusedWhereInvalid);
      return delivery && toDelivery(delivery);
    },
    giveUp: async (deliveryIds, call) => {
      const { deliveries } = await client.giveUpDeliveries({ deliveryIds }, { ...call, deadlineMs });
      return deliveries.map(toDelivery);
    },
  };
}

/** The batches for which the worker starts workflows. */
export function retryBatchesOver(domain: RpcChannel): RetryBatchList {
  const client = domain.clientOf(DeliveryServiceService);
  return {
    toHandOver: async (request, call) => {
      const deadlineMs = request.maxWaitMs + ANSWER_MARGIN_MS;
      const { batches } = await client.claimRetryBatches(request, { ...call, deadlineMs });
      return batches.map(({ deliveries, ...batch }) => ({ ...batch, deliveries: deliveries.length }));
    },
    markHandedOver: async (batchIds, call) => {
      await client.markRetryBatchesHandedOver({ batchIds }, { ...call, deadlineMs: STEP_DEADLINE_MS });
    },
  };
}

/** The log of the domain names one of those who ask together. None of them can be called back: what has begun, or has been sent, counts. */
function firstOf([first]: readonly Asked<unknown>[]): { requestId: string } {
  return { requestId: first?.call.requestId ?? '' };
}

function noneWherePurged(error: unknown): { batch: undefined } {
  if (error instanceof ServiceError && error.code === ErrorCode.RETRY_BATCH_NOT_FOUND) {
    return { batch: undefined };
  }
  throw error;
}

function refusedWhereInvalid(error: unknown): never {
  if (error instanceof ServiceError && error.code === ErrorCode.INVALID_REQUEST) {
    throw new ResultRefused(error.message, { cause: error });
  }
  throw error;
}

function toDelivery({ status, ...delivery }: RetryDelivery): RetriedDelivery {
  const known = STATUSES[status];
  if (known === undefined) {
    throw new Error(`The domain says that delivery ${delivery.deliveryId} is ${status}, which nobody knows.`);
  }
  return { ...delivery, status: known };
}

function toBeginning({ result }: BeginAttemptResponse): AttemptBeginning {
  if (result?.$case === 'refused') {
    const { reason, delivery } = result.value;
    return {
      refused: {
        delivery: delivery && toDelivery(delivery),
        isLeaseRunning: reason === AttemptRefusalReason.LEASE_RUNNING,
      },
    };
  }
  const { target, body, leaseExpiresAt } = result?.value ?? {};
  if (!target || !body || !leaseExpiresAt) {
    throw new Error('The domain began an attempt and did not say what to send, or where.');
  }
  return { begun: { target, body, leaseExpiresAt } };
}
