import {
  type DeliveryAttempt as AttemptMessage,
  AttemptOutcome as OutcomeMessage,
} from '../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import type { DeliveryAttempt } from '../../../domain/webhooks/deliveries.js';
import type { RunningAttempt } from '../../../domain/webhooks/logs/deliveries.js';

export function toAttemptMessage(attempt: DeliveryAttempt | RunningAttempt): AttemptMessage {
  const { number, startedAt } = attempt;
  const begun = { number, startedAt: new Date(startedAt) };
  if (attempt.outcome === null) {
    return { ...begun, outcome: OutcomeMessage.UNSPECIFIED, message: '', responseStart: Buffer.alloc(0) };
  }
  return {
    ...begun,
    outcome: OutcomeMessage[attempt.outcome],
    durationMs: attempt.durationMs ?? undefined,
    httpStatus: attempt.httpStatus ?? undefined,
    message: attempt.message ?? '',
    responseStart: Buffer.from(attempt.responseStart ?? []),
  };
}
