import { ErrorCode, ServiceError } from '../../errors/service-error.js';

export function unavailable(message: string, cause: unknown, retryAfterSeconds = 1): ServiceError {
  const { code, message: reason } = cause as { code?: string; message?: string };
  return new ServiceError(ErrorCode.UNAVAILABLE, message, {
    internal: [code, reason].filter(Boolean).join(': '),
    cause,
    retryAfterSeconds,
  });
}

/** The database was asked to commit and did not report the outcome, or the disk failed after the commit. */
export function asUnknownOutcome(error: unknown): ServiceError {
  return unavailable(
    'The service does not know whether the change was made. Repeat the call with its idempotency key, or look before you repeat it without one.',
    error,
  );
}
