import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { ServiceError } from '../../../errors/service-error.js';
import { unavailable } from '../unavailable.js';

const LOCK_NOT_AVAILABLE = '55P03';
const READ_ONLY = '25006';
const UNKNOWN_STATEMENT = '26000';

/** Codes for unknown settings: of PgBouncer, then of RDS Proxy. */
const REFUSED_SETTING = new Set(['08P01', '0A000']);

/** Refused or ended connections, exhausted resources, timeouts, a read-only server: a retry may succeed. */
const PASSING = /^(08...|53...|58...|57014|57P0[1-5]|55P03|25006|25P0[34]|40P01|40001)$/;

/** Messages of pg for a lost connection or a missing answer. */
const LOST = /terminated|timeout|not queryable|^Client was closed|^Cannot use a pool/i;

/** The server ends the connection with these. Its `severity` is in the server's language. */
const ENDING = /^(08...|57P0[1-5]|25P0[34])$/;

/**
 * A refused statement on a sound connection. Any other error leaves its state unknown, or tells that it is of
 * no use, such as one to a standby: after a fail-over, a new one leads to the new primary.
 */
export function isServerRefusal(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    error.severity !== 'FATAL' &&
    error.severity !== 'PANIC' &&
    error.code !== READ_ONLY &&
    !ENDING.test(error.code ?? '')
  );
}

/** The connection ended before the answer came. False if our own time limit ended the wait. */
export function isLostConnection(error: unknown): boolean {
  const { code, message } = error as Error & { code?: unknown };
  return error instanceof pg.DatabaseError
    ? ENDING.test(error.code ?? '')
    : code === 'ECONNRESET' || code === 'EPIPE' || /terminated|not queryable/i.test(message);
}

/** Whether a restart with the same settings may succeed. */
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

/** The connection was refused for its settings. */
export function isRefusedSetting(error: unknown): boolean {
  return error instanceof pg.DatabaseError && REFUSED_SETTING.has(error.code ?? '');
}

/** What PgBouncer answers to `begin` in statement mode, with the code of many other refusals. */
export function isRefusedTransaction(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /statement pooling/i.test(error.message);
}

/** PostgreSQL ended this transaction to resolve a deadlock; it can be repeated at once. */
export const isDeadlock = hasCode('40P01');

/** Refused because one before it in its transaction had failed: any, or the one that was to prepare it. */
export const isAfterFailure = hasCode('25P02', UNKNOWN_STATEMENT);

/** The server has other prepared statements than this connection: a pooler leads to several processes. */
export const isLostStatement = hasCode(UNKNOWN_STATEMENT, '42P05');

/**
 * A migration has changed the columns of the answer of a prepared statement, such as that of `select *`. The
 * routine tells it apart in servers of any language.
 */
export function isOutdatedPlan(error: unknown): boolean {
  const { routine, cause } = error as pg.DatabaseError & { cause?: pg.DatabaseError };
  return (routine ?? cause?.routine) === 'RevalidateCachedQuery';
}

/** Refused without effect. A repetition uses other names of prepared statements, or none. */
export function isMendedByRepetition(error: unknown): boolean {
  return isOutdatedPlan(error) || isLostStatement(error);
}

/**
 * A row has changed since the statement began, which isolation stricter than read committed refuses. On a
 * replica: the statement is cancelled, because the replica replays the removal of rows that it may read. The
 * connection may be ended too, if it cancels once more before the connection is idle.
 */
export const isSerializationFailure = hasCode('40001');

/** A statement took longer than the limit that the server enforces, or someone cancelled it. */
export const isCanceled = hasCode('57014');

/** A statement waited for a lock longer than its limit. */
export const isLockTimeout = hasCode(LOCK_NOT_AVAILABLE);

function hasCode(...expected: unknown[]) {
  return (error: unknown): boolean => {
    const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
    return expected.includes(code) || expected.includes(cause?.code);
  };
}

/** Repeats work that was refused without effect. */
export async function repeated<T>(
  mostTries: number,
  mayRepeat: (error: unknown) => boolean,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!mayRepeat(error) || tries === mostTries) {
        throw error;
      }
      // A random moment, after which those that refused each other rarely meet again.
      await pause(Math.random() * tries);
    }
  }
}

/** Turns an outage or overload of the database into UNAVAILABLE; other errors stay. */
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

/** No connection, for any reason: the caller can only wait. */
export function asNoConnection(error: unknown): ServiceError {
  return error instanceof ServiceError
    ? error
    : unavailable('The service cannot reach its data at the moment. Try again later.', error);
}

/** For a name with several addresses, the reasons are in the inner errors. */
export function reasonOf(error: unknown): string {
  const { errors, message } = error as AggregateError;
  return message || errors?.map((one: Error) => one.message).join(', ') || 'it gave no reason';
}
