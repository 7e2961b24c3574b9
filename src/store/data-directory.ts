import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { refuseMoved } from './moves/moved-file.js';
import { StoreError } from './store-error.js';

export const DATABASE_FILE = 'integration.db';
/** The folder in the data directory in which `integration restore` prepares the database file. */
export const RESTORE_STAGE = 'restoring';

/** The database file in a data directory, for a command that opens it. Throws if there is none. */
export function sqliteFileIn(dataDir: string): string {
  refuseHalfFilled(dataDir);
  refuseMoved(dataDir);
  const file = join(dataDir, DATABASE_FILE);
  if (!existsSync(file)) {
    throw new StoreError(
      `There is no database in ${dataDir}. Set DATA_DIR to where the service keeps it, or ENVIRONMENT to demo for that of the demo.`,
    );
  }
  return file;
}

/** Opening would create an empty database, and the next restore would refuse the directory. */
export function refuseHalfFilled(dataDir: string): void {
  if (existsSync(join(dataDir, RESTORE_STAGE)) && !existsSync(join(dataDir, DATABASE_FILE))) {
    throw new StoreError(
      `A restore into ${dataDir} is not complete. If none is running, run \`integration restore\` again; it starts from the beginning. To start without one, delete the folder ${RESTORE_STAGE}.`,
    );
  }
}

/** The last process that wrote did not close the file, or another one still has it open. */
export function isUnclosed(dataDir: string): boolean {
  const log = join(dataDir, `${DATABASE_FILE}-wal`);
  // On Node 20, stat alone throws for a file in the path of the directory.
  return existsSync(log) && (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
