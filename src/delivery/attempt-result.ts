import { AttemptOutcome } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import type { AttemptResult } from '../../generated/proto/integration/webhooks/v1/sending.js';
import type { AttemptReport } from './attempt.js';

/** What the domain records of an attempt. */
export function attemptResultOf(deliveryId: string, number: number, report: AttemptReport): AttemptResult {
  const { startedAt, outcome, durationMs, httpStatus, message, responseStart, retryAfterSeconds } = report;
  return {
    deliveryId,
    attempt: {
      number,
      startedAt,
      outcome: AttemptOutcome[outcome],
      durationMs,
      httpStatus,
      message,
      responseStart: Buffer.from(responseStart.buffer, responseStart.byteOffset, responseStart.byteLength),
    },
    retryAfterSeconds,
  };
}
