import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { Sqlite } from './better-sqlite3.js';
import { StoreError } from './store-error.js';

const CLAIM_FILE = 'domain.lock';

/**
 * Claims a data directory for this process by a lock of SQLite on a separate empty file, which the system
 * releases with the process. Two domains would miss each other's events.
 */
export function claimDirectory(dataDir: string): { release(): void } {
  const file = join(dataDir, CLAIM_FILE);
  let claim: BetterSqlite3.Database | undefined;
  try {
    claim = new Sqlite(file, { timeout: 0 });
    claim.exec('begin exclusive');
  } catch (error) {
    claim?.close();
    const { code = '', message } = error as { code?: string; message: string };
    throw new StoreError(
      code.startsWith('SQLITE_BUSY')
        ? `Another domain already runs on ${dataDir}. Stop it, or set DATA_DIR to another directory.`
        : `The file ${file} cannot be locked: ${message}.`,
      { cause: error },
    );
  }
  return { release: () => void claim.close() };
}
