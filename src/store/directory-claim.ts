import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { StoreError } from './store-error.js';

const CLAIM_FILE = 'domain.lock';

/**
 * Claims a data directory for this process: two domains on one database would each tell the caller what the other has not heard of. The claim is a
 * lock of SQLite on an empty file of its own, which the system releases with the process, however that ends.
 */
export function claimDirectory(dataDir: string): { release(): void } {
  const file = join(dataDir, CLAIM_FILE);
  let claim: BetterSqlite3.Database | undefined;
  try {
    claim = new BetterSqlite3(file, { timeout: 0 });
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
