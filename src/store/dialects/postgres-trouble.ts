import pg from 'pg';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';

const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';

/** What poolers say of a setting that they do not know: PgBouncer the first, RDS Proxy the second. */
const REFUSED_SETTING = new Set(['08P01', '0A000']);

/** Connections refused or ended, resources used up, statements ended by a time limit, a server that only reads: the same may succeed later. */
const PASSING = /^(08...|53...|58...|57014|57P0[1-5]|55P03|25006|25P0[34]|40P01|40001)$/;

/** What pg says by itself when a connection is lost or an answer does not come. */
const LOST = /terminated|timeout|not queryable|^Client was closed|^Cannot use a pool/i;

const RETRY_AFTER_SECONDS = 1;

/** With these the server ends the connection. It says so in `severity` too, but in its own language. */
const ENDING = /^(08...|57P0[1-5]|25P0[34])$/;

/** A statement that the server refused and a connection that goes on; anything else leaves the state of the connection unknown. */
export function isServerRefusal(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    error.severity !== 'FATAL' &&
    error.severity !== 'PANIC' &&
    !ENDING.test(error.code ?? '')
  );
}

/** Whether starting again, with the same settings, may succeed. */
export function isPassingTrouble(error: unknown): boolean {
  const { code, message = '', errors } = error as AggregateError & { code?: unknown };
  if (errors !== undefined) {
    return errors.some(isPassingTrouble);
  }
  if (error instanceof pg.DatabaseError) {
    return PASSING.test(error.code ?? '');
  }
  return (typeof code === 'string' && /^E[A-Z]/.test(code) && !code.startsWith('ERR_')) || LOST.test(message);
}

/** A connection was not begun because of the settings that it was to have. */
export function isRefusedSetting(error: unknown): boolean {
  return error instanceof pg.DatabaseError && REFUSED_SETTING.has(error.code ?? '');
}

/** PostgreSQL has ended this transaction so that others could go on; the same work may be done again at once. */
export function isDeadlock(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  return code === DEADLOCK_DETECTED || cause?.code === DEADLOCK_DETECTED;
}

/** An outage or an overload of the database, as what the caller may be told of it; other errors stay as they are. */
export function asDatabaseTrouble(error: unknown): unknown {
  if (error instanceof ServiceError || !isPassingTrouble(error)) {
    return error;
  }
  const { code } = error as { code?: string };
  const message =
    code === LOCK_NOT_AVAILABLE
      ? 'Other changes to the same data are under way. Try again in a moment.'
      : 'The service cannot reach its data at the moment. Try again later.';
  return unavailable(message, error);
}

/** No connection, for whatever reason: the caller can do nothing but wait. */
export function asNoConnection(error: unknown): ServiceError {
  return error instanceof ServiceError
    ? error
    : unavailable('The service cannot reach its data at the moment. Try again later.', error);
}

/** The server was asked to commit and did not say what became of it. */
export function asUnknownOutcome(error: unknown): ServiceError {
  return unavailable(
    'The service does not know whether the change was made. Repeat the call with its idempotency key, or look before you repeat it without one.',
    error,
  );
}

function unavailable(message: string, cause: unknown): ServiceError {
  const { code, message: reason } = cause as { code?: string; message?: string };
  return new ServiceError(ErrorCode.UNAVAILABLE, message, {
    internal: [code, reason].filter(Boolean).join(': '),
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
