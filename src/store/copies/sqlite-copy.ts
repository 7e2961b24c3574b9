import { closeSync, existsSync, openSync } from 'node:fs';
import type BetterSqlite3 from 'better-sqlite3';
import { Sqlite } from '../better-sqlite3.js';
import { sqliteFileIn } from '../data-directory.js';
import { CopyError, damageIn } from '../store-error.js';
import { RESTORED_TYPE } from './copy-facts.js';

const OPENING_TIMEOUT_MS = 5_000;
/** At most 64 MB per step; the process handles signals between steps. */
const PAGES_AT_ONCE = 16_384;
const OWNER_ONLY = 0o600;

/** Copies the current state of the database into a new file. The service may write during the copy. */
export async function copySqlite(dataDir: string, target: string): Promise<void> {
  const file = sqliteFileIn(dataDir);
  const source = new Sqlite(file, { readonly: true, timeout: OPENING_TIMEOUT_MS });
  try {
    // One read transaction for all steps: without it, each commit of the service would restart the copy.
    source.exec('begin');
    source.prepare('select count(*) from sqlite_schema').get();
    closeSync(openSync(target, 'wx', OWNER_ONLY));
    await source.backup(target, { progress: () => PAGES_AT_ONCE });
  } catch (error) {
    throw new CopyError(`The database ${file} could not be copied: ${(error as Error).message}.`, {
      cause: error,
    });
  } finally {
    source.close();
  }
  asOneFile(target);
}

/** Checks every page, index and reference. */
export function assertSound(file: string): void {
  const faults = withFile(file, (database) => [
    ...(database.pragma('integrity_check(3)') as { integrity_check: string }[])
      .map((row) => row.integrity_check)
      .filter((found) => found !== 'ok'),
    ...(database.pragma('foreign_key_check') as { table: string; parent: string }[])
      .slice(0, 3)
      .map(({ table, parent }) => `a row of ${table} refers to a missing row of ${parent}`),
  ]);
  if (faults.length > 0) {
    throw new CopyError(`The database in ${file} is damaged: ${faults.join('; ')}.`);
  }
}

/**
 * Checkpoints and removes the write-ahead log: one checksum then covers all data, and reading adds no files.
 * Closing the last connection also does this, but if that fails, SQLite keeps the log and reports no error.
 */
export function asOneFile(file: string): void {
  const mode = withFile(
    file,
    (database) => database.pragma('journal_mode = delete', { simple: true }),
    false,
  );
  if (mode !== 'delete' || existsSync(`${file}-wal`)) {
    throw new CopyError(`The write-ahead log of the database in ${file} could not be checkpointed.`);
  }
}

/** Refuses a file that lacks the audit record of its restore. */
export function assertSettled(file: string, at: number): void {
  const isRecorded = withFile(file, (database) =>
    database.prepare('select 1 from audit_events where type = ? and created_at = ?').get(RESTORED_TYPE, at),
  );
  if (isRecorded === undefined) {
    throw new CopyError(`The database in ${file} lacks the audit record of its restore.`);
  }
}

function withFile<T>(file: string, use: (database: BetterSqlite3.Database) => T, readonly = true): T {
  let database: BetterSqlite3.Database | undefined;
  try {
    database = new Sqlite(file, { readonly, fileMustExist: true, timeout: 0 });
    return use(database);
  } catch (error) {
    const state = damageIn(error) ? 'is damaged' : 'could not be processed';
    throw new CopyError(`The database in ${file} ${state}: ${(error as Error).message}.`, { cause: error });
  } finally {
    database?.close();
  }
}
