import BetterSqlite3 from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import type { Database } from '../database.js';
import type { Schema } from '../schema.js';
import { StoreError } from '../store-error.js';
import { GroupCommit } from './group-commit.js';

const BUSY_TIMEOUT_MS = 5_000;

/** One connection that writes and one that reads, so that reads never see a group that may still be rolled back. */
export function openSqlite(file: string): Database {
  const writing = connect(file, false);
  // The first connection has made the file and switched it to WAL, which a read-only one could not do.
  const reading = connect(file, true);
  const writer = new Kysely<Schema>({ dialect: new SqliteDialect({ database: writing }) });
  const reader = new Kysely<Schema>({ dialect: new SqliteDialect({ database: reading }) });
  const commits = new GroupCommit(writer);
  return {
    reader,
    write: (work) => commits.run(work),
    migrator: writer,
    close: async () => {
      await commits.idle();
      await reader.destroy();
      await writer.destroy();
    },
  };
}

function connect(file: string, readonly: boolean): BetterSqlite3.Database {
  try {
    const database = new BetterSqlite3(file, { readonly, timeout: BUSY_TIMEOUT_MS });
    if (!readonly) {
      database.pragma('journal_mode = WAL');
      // An acknowledged write survives a power cut; group commit pays for it.
      database.pragma('synchronous = FULL');
      database.pragma('foreign_keys = ON');
    }
    database.pragma('cache_size = -16000');
    return database;
  } catch (error) {
    throw new StoreError(`The database ${file} cannot be opened: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}
