import { join } from 'node:path';
import type { Config } from '../../../config/config.js';
import { DATABASE_FILE } from '../../../store/data-directory.js';
import type { Reader } from '../../../store/database.js';
import { openPostgres } from '../../../store/dialects/postgres/postgres.js';
import { tryWriteSqlite } from '../../../store/dialects/sqlite.js';
import { openReader, recordedIn } from '../../../store/recorded.js';
import { damageIn } from '../../../store/store-error.js';
import { Skipped } from './check.js';

/** The server ends longer statements, so that no check delays the service. */
export const LIMITS = {
  server: { lockMs: 2_000, statementMs: 8_000, idleMs: 15_000 },
  ...{ connectMs: 5_000, answerMs: 10_000, askMs: 10_000 },
};

/** The database of the settings, or why it cannot be read. */
export interface OpenedPlace {
  isPostgres: boolean;
  /** Of the SQLite database. */
  file: string;
  problem?: string;
  /** Throws `Skipped` if the database cannot be read. */
  reader(): Reader;
  /** Makes a write that changes nothing, and syncs it. */
  tryWrite(): Promise<void>;
  close(): Promise<void>;
}

export async function openPlace(config: Config): Promise<OpenedPlace> {
  const { DATA_DIR: dataDir } = config;
  const databaseUrl = config.DATABASE_URL?.reveal();
  const file = join(dataDir, DATABASE_FILE);
  const refuse = () => {
    throw new Skipped('the database cannot be read');
  };
  const isPostgres = databaseUrl !== undefined;
  try {
    const opened =
      databaseUrl === undefined
        ? { ...(await openReader({ dataDir })), tryWrite: async () => tryWriteSqlite(file) }
        : await openPostgres(databaseUrl, () => undefined, LIMITS);
    const { reader, tryWrite, close } = opened;
    await recordedIn(reader).catch(async (error: unknown) => {
      await close();
      throw error;
    });
    return { isPostgres, file, reader: () => reader, tryWrite, close };
  } catch (error) {
    return {
      isPostgres,
      file,
      problem: damageIn(error) ?? (error as Error).message,
      reader: refuse,
      tryWrite: async () => refuse(),
      close: async () => undefined,
    };
  }
}
