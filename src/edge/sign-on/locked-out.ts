import { ErrorCode, ServiceError } from '../../errors/service-error.js';

/** A form with a password came too often: the message says what was too much. */
export class LockedOut extends ServiceError {
  constructor(
    cause: ServiceError,
    /** The page with the form, for the time after. */
    readonly backUrl: string,
  ) {
    super(ErrorCode.RATE_LIMITED, cause.message, { cause, retryAfterSeconds: cause.retryAfterSeconds });
    this.name = 'LockedOut';
  }
}

/** The answer to a form with a password; if there were too many, the error for the page that says so. */
export function unlessLockedOut<T>(answer: Promise<T>, backUrl: string): Promise<T> {
  return answer.catch((error: unknown) => {
    const isLockOut = error instanceof ServiceError && error.code === ErrorCode.RATE_LIMITED;
    throw isLockOut ? new LockedOut(error, backUrl) : error;
  });
}
