import { ErrorCode, ServiceError } from '../../errors/service-error.js';

/** Too many passwords were tried. */
export class LockedOut extends ServiceError {
  constructor(
    cause: ServiceError,
    /** The page with the form, for the time after. */
    readonly backUrl: string,
  ) {
    const { retryAfterSeconds = 1 } = cause;
    super(ErrorCode.RATE_LIMITED, cause.message, { cause, retryAfterSeconds });
    this.name = 'LockedOut';
  }
}

/** The answer to a form with a password, whose refusal for its number leads to a page of its own. */
export function unlessLockedOut<T>(answer: Promise<T>, backUrl: string): Promise<T> {
  return answer.catch((error: unknown) => {
    const isLockOut = error instanceof ServiceError && error.code === ErrorCode.RATE_LIMITED;
    throw isLockOut ? new LockedOut(error, backUrl) : error;
  });
}
