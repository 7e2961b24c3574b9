import type { DeliveryId } from '../../../../generated/ids.js';
import {
  AttemptOutcome,
  DeliveryStatus,
} from '../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import type {
  ClaimDeliveriesResponse,
  AttemptResult as ResultMessage,
  RetryBatch as RetryBatchMessage,
  RetryDelivery,
} from '../../../../generated/proto/integration/webhooks/v1/sending.js';
import { MAX_ATTEMPTS } from '../../../domain/webhooks/deliveries.js';
import type { Claim } from '../../../domain/webhooks/sending/claims/claim.js';
import type { AttemptResult } from '../../../domain/webhooks/sending/results.js';
import type { FilledRetryBatch } from '../../../domain/webhooks/sending/retry-handover.js';
import type { RetriedDelivery } from '../../../domain/webhooks/sending/sending.js';
import { invalidField } from '../../../errors/service-error.js';
import type { Sent } from '../../definitions.js';
import { fromEnum } from '../words.js';

const MAX_RESPONSE_BYTES = 16_384;
const MAX_MESSAGE_LENGTH = 2_000;
const MAX_UINT32 = 0xffff_ffff;

const fromOutcome = fromEnum(AttemptOutcome);

/** `leasedForMs` counts from the arrival of the call, `arrivedMsAgo` milliseconds before `now`. */
export function toClaimResponse(
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

/** The clock may be set back between two readings. */
function boundedMs(ms: number): number {
  return Math.min(MAX_UINT32, Math.max(0, Math.floor(ms)));
}

export function toRetryDelivery(delivery: RetriedDelivery): Sent<RetryDelivery> {
  const { id, status, leaseUntil, lastOutcome } = delivery;
  return {
    ...delivery,
    deliveryId: id,
    status: DeliveryStatus[status],
    leaseExpiresAt: leaseUntil,
    lastOutcome: AttemptOutcome[lastOutcome ?? 'UNSPECIFIED'],
  };
}

/** The path of an address may be a secret, and workflows keep no secrets. */
export function toRetryBatch({ id, url, deliveries, ...batch }: FilledRetryBatch): Sent<RetryBatchMessage> {
  const address = new URL(url).origin;
  return { ...batch, batchId: id, address, deliveries: deliveries.map(toRetryDelivery) };
}

/** Shortens overlong messages of a sender: the attempt was made, and must be recorded. */
export function toAttemptResult(
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
  const { number, startedAt, durationMs = null, httpStatus = null, message, responseStart } = attempt;
  assertBetween(number, 1, MAX_ATTEMPTS, `${path}.number`);
  return {
    deliveryId: deliveryId as DeliveryId,
    attempt: {
      number,
      outcome,
      durationMs,
      httpStatus,
      message: message === '' ? null : message.slice(0, MAX_MESSAGE_LENGTH).replaceAll('\0', ' '),
      responseStart: responseStart.length === 0 ? null : responseStart.subarray(0, MAX_RESPONSE_BYTES),
      ...(startedAt && { startedAt: startedAt.getTime() }),
    },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

export function assertBetween(value: number, least: number, most: number, path: string): void {
  if (value < least || value > most) {
    throw invalidField('A number is out of bounds.', path, `must be between ${least} and ${most}`);
  }
}

export function assertNotMore(list: readonly unknown[], most: number, path: string): void {
  if (list.length > most) {
    throw invalidField('There are too many of them.', path, `must be ${most} at most`);
  }
}
