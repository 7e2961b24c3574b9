import { ErrorCode, ServiceError } from '../errors/service-error.js';

/** Why the database cannot be used, as a sentence for the operator who starts the service. */
export class StoreError extends Error {
  /** Whether the same start may succeed later: the database is down, busy or not there yet. */
  readonly mayPass: boolean;

  constructor(message: string, { mayPass = false, ...options }: ErrorOptions & { mayPass?: boolean } = {}) {
    super(message, options);
    this.name = 'StoreError';
    this.mayPass = mayPass;
  }
}

/** What a dialect tells as an outage, or SQLite of another process that writes. */
export function mayPass(error: unknown): boolean {
  return error instanceof ServiceError
    ? error.code === ErrorCode.UNAVAILABLE
    : ((error as { code?: unknown }).code ?? '').toString().startsWith('SQLITE_BUSY');
}

/** In the words of the database. */
export function databaseReasonOf(error: unknown): string {
  return (error instanceof ServiceError && error.internal) || (error as Error).message;
}
