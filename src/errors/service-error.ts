import { inspect } from 'node:util';
import {
  ErrorCode,
  type FieldViolation,
  type KeyHolder,
  type RateLimit,
} from '../../generated/proto/integration/errors/v1/errors.js';

export { ErrorCode, type FieldViolation, type KeyHolder, type RateLimit };

export interface ErrorDetails {
  /** For the log only: ids, states, the cause. Never a secret. */
  internal?: string;
  cause?: unknown;
  fieldViolations?: readonly FieldViolation[];
  rateLimit?: RateLimit;
  retryAfterSeconds?: number;
  /** Whose request it refuses, for the log of the edge. */
  keyHolder?: KeyHolder;
}

/** A refusal with a code of the contract. Its message is public: the caller reads it. */
export class ServiceError extends Error {
  readonly internal: string | undefined;
  readonly fieldViolations: readonly FieldViolation[];
  readonly rateLimit: RateLimit | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly keyHolder: KeyHolder | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    details: ErrorDetails = {},
  ) {
    super(message, { cause: details.cause });
    this.name = 'ServiceError';
    this.internal = details.internal;
    this.fieldViolations = details.fieldViolations ?? [];
    this.rateLimit = details.rateLimit;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.keyHolder = details.keyHolder;
  }
}

/** The caller of the work has cancelled it, or its deadline has passed: no caller reads this. */
export class CallerLeft extends ServiceError {
  constructor(message = 'The caller left before the answer.') {
    super(ErrorCode.UNAVAILABLE, message);
  }
}

/** The peer did not answer, or was not asked. */
export class NotReached extends ServiceError {
  constructor(internal: string) {
    super(ErrorCode.UNAVAILABLE, 'The service cannot answer right now. Please try again shortly.', {
      internal,
      retryAfterSeconds: 1,
    });
  }
}

/** The database may have made the change, or may still make it: a repetition could make it twice. */
export class OutcomeUnknown extends ServiceError {}

/** Refuses a request because of one field. */
export function fieldRefusal(
  code: ErrorCode,
  message: string,
  path: string,
  violation: string,
): ServiceError {
  return new ServiceError(code, message, { fieldViolations: [{ path, message: violation }] });
}

export function invalidField(message: string, path: string, violation: string): ServiceError {
  return fieldRefusal(ErrorCode.INVALID_REQUEST, message, path, violation);
}

/** For what the present state does not allow. */
export function refused(message: string): ServiceError {
  return new ServiceError(ErrorCode.TRANSITION_REFUSED, message);
}

/** Returns what was found, or throws the code. */
export function existing<T>(found: T | undefined, code: ErrorCode, noun: string): T {
  if (found === undefined) {
    throw new ServiceError(code, `There is no such ${noun}.`);
  }
  return found;
}

/** For an unexpected fault: the caller learns nothing of the cause, which is for the log. */
export function internalError(cause: unknown): ServiceError {
  const internal = cause instanceof Error ? `${cause.name}: ${cause.message}` : textOf(cause);
  return new ServiceError(ErrorCode.INTERNAL_ERROR, 'Something went wrong on our side.', { internal, cause });
}

/** Text of any thrown value, also of one without a usable toString. */
function textOf(thrown: unknown): string {
  return typeof thrown === 'string' ? thrown : inspect(thrown);
}

export function asServiceError(error: unknown): ServiceError {
  return error instanceof ServiceError ? error : internalError(error);
}

/** The `code` of a problem body: the contract's name without its prefix, in lower case. */
export function publicCode(code: ErrorCode): string {
  return code.replace(/^ERROR_CODE_/, '').toLowerCase();
}

/** What the gRPC contract promises and proto3 cannot require. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) {
    throw internalError(new Error('the answer of the domain lacks a required member'));
  }
  return value;
}
