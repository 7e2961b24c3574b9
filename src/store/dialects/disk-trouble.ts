import { ErrorCode, ServiceError } from '../../errors/service-error.js';

/** A full or failing disk, too many files, or another writing process: SQLite's and the system's codes. */
const DISK_TROUBLE = /^(SQLITE_(BUSY|FULL|IOERR|CANTOPEN|READONLY)|E(IO|NOSPC|DQUOT|FBIG|ROFS|MFILE|NFILE)$)/;

/** Nothing was written, and a retry may succeed: answers UNAVAILABLE. */
export function asDiskTrouble(error: unknown): unknown {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && DISK_TROUBLE.test(code)
    ? new ServiceError(ErrorCode.UNAVAILABLE, 'The service cannot write at the moment. Try again later.', {
        internal: `${code}: ${(error as Error).message}`,
        cause: error,
        retryAfterSeconds: 10,
      })
    : error;
}
