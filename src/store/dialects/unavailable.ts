import { ErrorCode, OutcomeUnknown, ServiceError } from '../../errors/service-error.js';

export function unavailable(message: string, cause: unknown, retryAfterSeconds = 1): ServiceError {
  return new ServiceError(ErrorCode.UNAVAILABLE, message, detailsOf(cause, retryAfterSeconds));
}

/** The database was asked to commit and did not report the outcome, or the disk failed after the commit. */
export function asUnknownOutcome(error: unknown): OutcomeUnknown {
  return new OutcomeUnknown(
    ErrorCode.UNAVAILABLE,
    'The service does not know whether the change was made. Repeat the call with its idempotency key, or look before you repeat it without one.',
    detailsOf(error, 1),
  );
}

function detailsOf(cause: unknown, retryAfterSeconds: number) {
  const { code, message: reason } = cause as { code?: string; message?: string };
  return { internal: [code, reason].filter(Boolean).join(': '), cause, retryAfterSeconds };
}
