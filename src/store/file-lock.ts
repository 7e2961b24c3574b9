import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { makePrivately } from '../files/staged.js';
import { Sqlite } from './better-sqlite3.js';
import { mayPass, StoreError } from './store-error.js';

/** Without it, two processes that try at once can each find the lock half taken by the other, and give up. */
const RIVAL_WAIT_MS = 1_000;

/**
 * A lock of SQLite on a separate empty file, which the system releases with the process. `refusal` is the
 * message if another process has it for longer than `waitMs`.
 */
export function lockFile(file: string, refusal: string, waitMs = RIVAL_WAIT_MS): { release(): void } {
  let lock: BetterSqlite3.Database | undefined;
  try {
    // A user who may read a file may lock it, so other users could keep the lock from its owner.
    makePrivately(file);
    // SQLite opens a file without the right to write for reading, and would then take no lock.
    accessSync(file, constants.W_OK);
    lock = new Sqlite(file, { timeout: waitMs });
    // A journal on the disk would need room, so that nothing could start on a full disk.
    lock.pragma('journal_mode = memory');
    lock.exec('begin exclusive');
  } catch (error) {
    lock?.close();
    const { code = '', message } = error as { code?: string; message: string };
    const isTaken = code.startsWith('SQLITE_BUSY');
    throw new StoreError(isTaken ? refusal : `The lock ${file} cannot be made: ${message}.`, {
      cause: error,
      mayPass: !isTaken && mayPass(error),
    });
  }
  return { release: () => void lock.close() };
}

const CLAIM_FILE = 'domain.lock';

/** Claims a data directory for this process. Two domains would miss each other's events. */
export function claimDirectory(
  dataDir: string,
  refusal = `Another domain already runs on ${dataDir}. Stop it, or set DATA_DIR to another directory.`,
): { release(): void } {
  return lockFile(join(dataDir, CLAIM_FILE), refusal);
}
