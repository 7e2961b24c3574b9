import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { refuseMoved } from './moves/moved-file.js';
import { StoreError } from './store-error.js';

export const DATABASE_FILE = 'integration.db';
/** The folder in the data directory in which `integration restore` prepares the database file. */
export const RESTORE_STAGE = 'restoring';
/** What an operator of live can do without a database. */
export const TO_BEGIN =
  'In live, `integration restore` brings one back from a backup, and `integration init` makes a new environment.';

/** The database file in a data directory. Throws if there is none: opening would make one. */
export function sqliteFileIn(dataDir: string): string {
  refuseHalfFilled(dataDir);
  refuseMoved(dataDir);
  const file = join(dataDir, DATABASE_FILE);
  if (!isThere(file)) {
    throw new StoreError(
      `There is no database in ${dataDir}. Set DATA_DIR to where the service keeps it, or DATABASE_URL if it is in PostgreSQL; mount the volume if one holds it. For the database of a demo, set ENVIRONMENT to demo. ${TO_BEGIN}`,
    );
  }
  return file;
}

/** Unlike `existsSync`, throws if this user cannot reach the file. */
function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw new StoreError(`The database cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Opening would create an empty database, and the next restore would refuse the directory. */
export function refuseHalfFilled(dataDir: string): void {
  if (existsSync(join(dataDir, RESTORE_STAGE)) && !existsSync(join(dataDir, DATABASE_FILE))) {
    throw new StoreError(
      `A restore into ${dataDir} is not complete. If none is running, run \`integration restore\` again; it starts from the beginning. To begin without a backup, delete the folder ${RESTORE_STAGE} and, in live, run \`integration init\`.`,
    );
  }
}

/** The last process that wrote did not close the file, or another one still has it open. */
export function isUnclosed(dataDir: string): boolean {
  const log = join(dataDir, `${DATABASE_FILE}-wal`);
  // On Node 20, stat alone throws for a file in the path of the directory.
  return existsSync(log) && (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
