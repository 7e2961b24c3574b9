import { closeSync, existsSync, openSync } from 'node:fs';
import type BetterSqlite3 from 'better-sqlite3';
import { Sqlite } from '../../../store/better-sqlite3.js';
import { printableLine } from '../output/printable.js';
import { Unfinished } from '../unfinished.js';
import { UsageError } from '../usage-error.js';
import type { Sdk, Store } from './sdk.js';

/** The tables of `SqliteStore`, with the columns that it uses. */
const TABLES = [
  ['entities', 'select type, id, client_id, version, changed_at, resource, load from entities'],
  ['sync_state', 'select only_row, cursor, load, is_loading from sync_state'],
] as const;

export interface CopyFile {
  store: Store;
  /** Whether the first load, or a later one of everything, has not come to its end. */
  isLoading: boolean;
  close(): void;
}

/** Throws for a file that another program made. One that does not exist, or is empty, becomes a copy. */
export function refuseForeignFile(path: string): void {
  if (!existsSync(path)) {
    return;
  }
  // Not read-only: after a kill SQLite has to roll back first.
  const database = opened(path, { fileMustExist: true });
  try {
    const names = database.prepare('select name from sqlite_master').pluck().all();
    const missing = TABLES.filter(([name]) => !names.includes(name));
    // A program of an SDK that was killed at its start may have left the first table alone.
    if (missing.length === TABLES.length && names.length > 0) {
      throw new UsageError(`${shown(path)} is a database of another program, not a copy of an instance.`);
    }
    for (const [, select] of TABLES.filter((table) => !missing.includes(table))) {
      database.prepare(select);
    }
  } catch (error) {
    throw notACopy(path, error);
  } finally {
    database.close();
  }
}

/** Readable by its owner only, because it has personal data. */
export function openCopy(path: string, { SqliteStore }: Sdk): CopyFile {
  try {
    closeSync(openSync(path, existsSync(path) ? 'r' : 'a', 0o600));
  } catch (error) {
    throw new Unfinished(`${shown(path)} cannot be opened: ${(error as Error).message}.`);
  }
  const database = opened(path);
  try {
    // One transaction, so that a kill leaves all of the tables or none.
    database.exec('begin immediate');
    const store = new SqliteStore(database);
    database.exec('commit');
    const state = 'select cursor is null or is_loading from sync_state';
    const isLoading = database.prepare(state).pluck().get() === 1;
    return { store, isLoading, close: () => database.close() };
  } catch (error) {
    database.close();
    throw error;
  }
}

function opened(path: string, options: BetterSqlite3.Options = {}): BetterSqlite3.Database {
  try {
    return new Sqlite(path, options);
  } catch (error) {
    throw new Unfinished(`${shown(path)} cannot be opened: ${(error as Error).message}.`);
  }
}

function notACopy(path: string, error: unknown): unknown {
  const { code = '' } = error as { code?: string };
  if (code === 'SQLITE_NOTADB' || code === 'SQLITE_ERROR') {
    return new UsageError(
      `${shown(path)} is not a copy of an instance; --to takes a new file or one of this command.`,
    );
  }
  const fault = faultOfFile(path, error);
  return fault === undefined ? error : new Unfinished(fault);
}

/** A sentence for what SQLite reports of the file; undefined for other errors. */
export function faultOfFile(path: string, error: unknown): string | undefined {
  if (!(error instanceof Sqlite.SqliteError)) {
    return undefined;
  }
  return error.code.startsWith('SQLITE_BUSY')
    ? `${shown(path)} is locked by another program. Try again when that is done.`
    : `${shown(path)} cannot be used: ${error.message} (${error.code}).`;
}

const shown = printableLine;
