import type { DeliveryId } from '../../../../generated/ids.js';
import {
  AttemptOutcome,
  DeliveryStatus,
} from '../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import {
  AttemptRefusalReason,
  type BeginAttemptResponse,
  type ClaimDeliveriesResponse,
  type AttemptResult as ResultMessage,
  type RetryBatch as RetryBatchMessage,
  type RetryDelivery,
} from '../../../../generated/proto/integration/webhooks/v1/sending.js';
import type { AttemptResult } from '../../../domain/webhooks/attempt-results.js';
import type { Claim } from '../../../domain/webhooks/claims-shares.js';
import { MAX_ATTEMPTS } from '../../../domain/webhooks/deliveries.js';
import type { FilledRetryBatch } from '../../../domain/webhooks/retry-handover.js';
import type { DeliveryProgress } from '../../../domain/webhooks/sending.js';
import type { Beginning, RefusalReason } from '../../../domain/webhooks/sending-begin.js';
import type { DeliveryTarget } from '../../../domain/webhooks/sending-targets.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';

const MAX_RESPONSE_BYTES = 16_384;
const MAX_MESSAGE_LENGTH = 2_000;

const STATUSES: Record<DeliveryProgress['status'], DeliveryStatus> = {
  PENDING: DeliveryStatus.PENDING,
  DELIVERED: DeliveryStatus.DELIVERED,
  EXHAUSTED: DeliveryStatus.EXHAUSTED,
  HELD: DeliveryStatus.HELD,
  CANCELLED: DeliveryStatus.CANCELLED,
};

const REASONS: Record<RefusalReason, AttemptRefusalReason> = {
  ALREADY_BEGUN: AttemptRefusalReason.ALREADY_BEGUN,
  LEASE_RUNNING: AttemptRefusalReason.LEASE_RUNNING,
  OUT_OF_TURN: AttemptRefusalReason.OUT_OF_TURN,
  ENDED: AttemptRefusalReason.ENDED,
  NOT_FOUND: AttemptRefusalReason.NOT_FOUND,
};

const OUTCOMES: Partial<Record<AttemptOutcome, AttemptResult['attempt']['outcome']>> = {
  [AttemptOutcome.SUCCEEDED]: 'SUCCEEDED',
  [AttemptOutcome.STATUS_REFUSED]: 'STATUS_REFUSED',
  [AttemptOutcome.TIMED_OUT]: 'TIMED_OUT',
  [AttemptOutcome.NAME_NOT_RESOLVED]: 'NAME_NOT_RESOLVED',
  [AttemptOutcome.ADDRESS_REFUSED]: 'ADDRESS_REFUSED',
  [AttemptOutcome.CONNECTION_FAILED]: 'CONNECTION_FAILED',
  [AttemptOutcome.TLS_FAILED]: 'TLS_FAILED',
  [AttemptOutcome.PROTOCOL_ERROR]: 'PROTOCOL_ERROR',
  [AttemptOutcome.INTERRUPTED]: 'INTERRUPTED',
};

export function toClaimResponse({ leaseUntil, deliveries, targets, bodies }: Claim): ClaimDeliveriesResponse {
  const leaseExpiresAt = new Date(leaseUntil);
  return {
    deliveries: deliveries.map(({ id, target, body }) => ({
      deliveryId: id,
      targetIndex: target,
      bodyIndex: body,
      leaseExpiresAt,
    })),
    targets: targets.map(toTarget),
    bodies,
  };
}

export function toBeginResponse(beginning: Beginning): BeginAttemptResponse {
  if ('begun' in beginning) {
    const { target, body, leaseUntil } = beginning.begun;
    const value = { target: toTarget(target), body, leaseExpiresAt: new Date(leaseUntil) };
    return { result: { $case: 'begun', value } };
  }
  const { reason, delivery } = beginning.refused;
  const value = { reason: REASONS[reason], delivery: delivery && toRetryDelivery(delivery) };
  return { result: { $case: 'refused', value } };
}

export function toRetryDelivery(delivery: DeliveryProgress): RetryDelivery {
  const { id, status, attemptsBegun, nextAttemptAt, leaseUntil } = delivery;
  return {
    deliveryId: id,
    status: STATUSES[status],
    attemptsBegun,
    ...(nextAttemptAt !== null && { nextAttemptAt: new Date(nextAttemptAt) }),
    ...(leaseUntil !== null && { leaseExpiresAt: new Date(leaseUntil) }),
  };
}

export function toRetryBatch(batch: FilledRetryBatch): RetryBatchMessage {
  const { id, subscriptionId, instanceIntegrationId, eventTypes, deliveries } = batch;
  return {
    batchId: id,
    subscriptionId,
    instanceIntegrationId,
    eventTypes,
    deliveries: deliveries.map(toRetryDelivery),
  };
}

/** What a sender tells at too great a length is cut: the attempt was made, and must be recorded. */
export function toAttemptResult(
  { deliveryId, attempt, retryAfterSeconds }: ResultMessage,
  index: number,
): AttemptResult {
  const path = `results[${index}].attempt`;
  if (!attempt) {
    throw refused('An attempt is missing.', path, 'must be set');
  }
  const outcome = OUTCOMES[attempt.outcome];
  if (!outcome) {
    throw refused('An attempt has no end.', `${path}.outcome`, 'must be how the attempt ended');
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
    throw refused('A number is out of bounds.', path, `must be between ${least} and ${most}`);
  }
}

export function assertNotMore(list: readonly unknown[], most: number, path: string): void {
  if (list.length > most) {
    throw refused('There are too many of them.', path, `must be ${most} at most`);
  }
}

function refused(sentence: string, path: string, message: string): ServiceError {
  return new ServiceError(ErrorCode.INVALID_REQUEST, sentence, { fieldViolations: [{ path, message }] });
}

function toTarget({ subscriptionId, url, signingSecrets }: DeliveryTarget) {
  return { subscriptionId, url, signingSecrets: [...signingSecrets] };
}
