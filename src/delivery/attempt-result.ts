import { AttemptOutcome } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import type { AttemptResult } from '../../generated/proto/integration/webhooks/v1/sending.js';
import type { AttemptReport } from './attempt.js';

/** The result of an attempt, for the domain. */
export function attemptResultOf(deliveryId: string, number: number, report: AttemptReport): AttemptResult {
  return {
    deliveryId,
    attempt: {
      number,
      startedAt: report.startedAt,
      outcome: AttemptOutcome[report.outcome],
      durationMs: report.durationMs,
      httpStatus: report.httpStatus,
      message: report.message,
      responseStart: report.responseStart,
    },
    retryAfterSeconds: report.retryAfterSeconds,
  };
}
