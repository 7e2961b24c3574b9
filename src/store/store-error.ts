import { constants } from 'node:os';
import { ErrorCode, ServiceError } from '../errors/service-error.js';

/** Why the database cannot be used, as a sentence for the operator. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** Whether a later start may succeed: the database is down, busy or missing. */
  readonly mayPass: boolean;

  constructor(message: string, { mayPass = false, ...options }: ErrorOptions & { mayPass?: boolean } = {}) {
    super(message, options);
    this.mayPass = mayPass;
  }
}

/** A copy cannot be made or is damaged. The message is shown to the operator. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
}

/** The code of EDQUOT, a used-up quota of a disk, for which Node has no name. */
export const NO_QUOTA = `Unknown system error -${constants.errno.EDQUOT}`;

/** Another writing process, a disk that is full or fails, or too many open files. */
const PASSING = new RegExp(`^(SQLITE_(BUSY|FULL|IOERR)|(E(NOSPC|MFILE|NFILE)|${NO_QUOTA})$)`);

/** An outage according to the dialect, or a code of SQLite or the system. */
export function mayPass(error: unknown): boolean {
  return error instanceof ServiceError
    ? error.code === ErrorCode.UNAVAILABLE
    : PASSING.test(String((error as { code?: unknown } | undefined)?.code));
}

/** In the words of the database. */
export function databaseReasonOf(error: unknown): string {
  return (error instanceof ServiceError && error.internal) || (error as Error).message;
}

/** What SQLite says of a damaged file, as a sentence; undefined for other errors. */
export function damageIn(error: unknown): string | undefined {
  const { code, message } = error as Error & { code?: unknown };
  return /^SQLITE_(CORRUPT|NOTADB)/.test(String(code)) ? `The database is damaged: ${message}.` : undefined;
}

/** Whether it is an outage or an error of PostgreSQL; no other errors have a severity. */
export function isOfDatabase(error: unknown): boolean {
  return error instanceof ServiceError || typeof (error as { severity?: unknown }).severity === 'string';
}

/** What the database refuses a command that opened it, as a sentence; other errors as they are. */
export function asRefused(error: unknown): unknown {
  const sentence = isOfDatabase(error)
    ? `The database refuses this: ${databaseReasonOf(error)}.`
    : damageIn(error);
  return sentence === undefined ? error : new CopyError(sentence, { cause: error });
}
