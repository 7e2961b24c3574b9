import { ErrorCode, ServiceError } from '../../errors/service-error.js';

/** A full or failing disk, no more files, or another process that writes for long, as SQLite says it and as the system does. */
const DISK_TROUBLE = /^(SQLITE_(BUSY|FULL|IOERR|CANTOPEN|READONLY)|E(IO|NOSPC|DQUOT|MFILE|NFILE)$)/;

/** Nothing was written, and it may go through once the disk has room again: whoever asked should ask later. */
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
