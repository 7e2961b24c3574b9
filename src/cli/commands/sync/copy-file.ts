import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { makePrivately } from '../../../files/staged.js';
import { Sqlite } from '../../../store/better-sqlite3.js';
import { explaining } from '../../startup-error.js';
import { Unfinished, UsageError } from '../errors.js';
import { printableLine } from '../output/printable.js';
import type { Sdk, Store } from './sdk.js';

/** The tables of `SqliteStore`, with the columns that it uses. */
const TABLES = [
  ['entities', 'select type, id, client_id, version, changed_at, resource, load from entities'],
  ['sync_state', 'select only_row, cursor, load, is_loading from sync_state'],
] as const;

/** Refused permissions: any for other users, because a copy has personal data. */
const TOO_OPEN = 0o077;

export interface CopyFile {
  store: Store;
  /** Whether the first load, or a later reload of everything, is incomplete. */
  isLoading: boolean;
  close(): void;
}

/**
 * Throws for a file that another program made, or that other users could read. One that does not exist, or is
 * empty, becomes a copy.
 */
export function refuseForeignFile(path: string): void {
  if (!existsSync(path)) {
    return;
  }
  // Before it is opened: SQLite would write what a journal beside it says.
  refuseFileOfOthers(path);
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
  refuseOpenFile(path);
}

/** Windows has neither owners nor modes. */
const hasOwners = process.getuid !== undefined;

function refuseFileOfOthers(path: string): void {
  if (hasOwners && statSync(path).uid !== process.getuid?.()) {
    throw new UsageError(`${shown(path)} belongs to another user, who could read it. Give another file.`);
  }
}

function refuseOpenFile(path: string): void {
  if (hasOwners && (statSync(path).mode & TOO_OPEN) !== 0) {
    throw new UsageError(`${shown(path)} is open to other users. Close it to them: chmod 600 ${shown(path)}`);
  }
}

export function openCopy(path: string, { SqliteStore }: Sdk): CopyFile {
  try {
    // Looks again at a file that appeared meanwhile.
    if (!makePrivately(path)) {
      refuseFileOfOthers(path);
      refuseOpenFile(path);
    }
  } catch (error) {
    if (error instanceof UsageError) {
      throw error;
    }
    const folder = dirname(path);
    throw new Unfinished(
      existsSync(folder)
        ? `${shown(path)} cannot be opened: ${(error as Error).message}.`
        : `There is no folder ${shown(folder)}.`,
    );
  }
  const database = opened(path);
  try {
    // Programs that read the file and the command do not wait for each other.
    database.pragma('journal_mode = wal');
    // One transaction: a killed process leaves all tables or none.
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
  const unusable = (why: string) => `${shown(path)} cannot be opened: ${why}.`;
  return explaining(Unfinished, unusable, () => new Sqlite(path, options));
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
  if (error.code.startsWith('SQLITE_BUSY')) {
    return `${shown(path)} is locked by another program. Try again when that is done.`;
  }
  const next = error.code.startsWith('SQLITE_CORRUPT')
    ? ' Delete the file; the command loads everything again.'
    : '';
  return `${shown(path)} cannot be used: ${error.message} (${error.code}).${next}`;
}

const shown = printableLine;
