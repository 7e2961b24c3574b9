import {
  type DeliveryAttempt as AttemptMessage,
  AttemptOutcome as OutcomeMessage,
} from '../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import type { AttemptOutcome, DeliveryAttempt } from '../../../domain/webhooks/deliveries.js';
import type { RunningAttempt } from '../../../domain/webhooks/delivery-log.js';

const OUTCOMES: Record<AttemptOutcome, OutcomeMessage> = {
  SUCCEEDED: OutcomeMessage.SUCCEEDED,
  STATUS_REFUSED: OutcomeMessage.STATUS_REFUSED,
  TIMED_OUT: OutcomeMessage.TIMED_OUT,
  NAME_NOT_RESOLVED: OutcomeMessage.NAME_NOT_RESOLVED,
  ADDRESS_REFUSED: OutcomeMessage.ADDRESS_REFUSED,
  CONNECTION_FAILED: OutcomeMessage.CONNECTION_FAILED,
  TLS_FAILED: OutcomeMessage.TLS_FAILED,
  PROTOCOL_ERROR: OutcomeMessage.PROTOCOL_ERROR,
  INTERRUPTED: OutcomeMessage.INTERRUPTED,
};

export function toAttemptMessage(attempt: DeliveryAttempt | RunningAttempt): AttemptMessage {
  const { number, startedAt } = attempt;
  const begun = { number, startedAt: new Date(startedAt) };
  if (attempt.outcome === null) {
    return { ...begun, outcome: OutcomeMessage.UNSPECIFIED, message: '', responseStart: Buffer.alloc(0) };
  }
  return {
    ...begun,
    outcome: OUTCOMES[attempt.outcome],
    durationMs: attempt.durationMs ?? undefined,
    httpStatus: attempt.httpStatus ?? undefined,
    message: attempt.message ?? '',
    responseStart: Buffer.from(attempt.responseStart ?? []),
  };
}
