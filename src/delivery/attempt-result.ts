import { AttemptOutcome } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import type { AttemptResult } from '../../generated/proto/integration/webhooks/v1/sending.js';
import type { AttemptReport } from './attempt.js';

/** The result of an attempt, for the domain. */
export function attemptResultOf(deliveryId: string, number: number, report: AttemptReport): AttemptResult {
  const { outcome, responseStart, retryAfterSeconds, ...attempt } = report;
  return {
    deliveryId,
    attempt: {
      ...attempt,
      number,
      outcome: AttemptOutcome[outcome],
      responseStart: Buffer.from(responseStart.buffer, responseStart.byteOffset, responseStart.byteLength),
    },
    retryAfterSeconds,
  };
}
