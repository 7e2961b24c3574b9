import { existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { stage, unstage, writeNew } from '../../../files/staged.js';
import { foundIn } from '../../../store/checks/check.js';
import { type DoctorCheck, skipUnless } from './check.js';

const MEBIBYTE = 1_048_576;
const GIBIBYTE = 1_024 * MEBIBYTE;
const LEAST_FREE_BYTES = GIBIBYTE;
const LEAST_FREE_SHARE = 0.05;
const LONG_LOG_BYTES = 512 * MEBIBYTE;

export const diskHasRoom: DoctorCheck = {
  name: 'disk-space',
  about: 'The disk of the data directory has more than 1 GiB and 5 % free.',
  severity: 'warning',
  remedy:
    'Free space or enlarge the disk. On a full disk the service refuses writes; it loses no data and accepts writes again when there is space.',
  find: async ({ config: { DATA_DIR } }) => {
    requireFolder(DATA_DIR);
    const { bavail, blocks, bsize } = await statfs(DATA_DIR);
    const [free, all] = [bavail * bsize, blocks * bsize];
    const isLow = free < LEAST_FREE_BYTES || free < all * LEAST_FREE_SHARE;
    const amount = `${sizeOf(free)} of ${sizeOf(all)}`;
    return foundIn(isLow ? [`the disk of ${DATA_DIR} has ${amount} free`] : [], `${amount} are free.`);
  },
};

export const writeAheadLogIsShort: DoctorCheck = {
  name: 'log-size',
  about: `The write-ahead log of the database is shorter than ${LONG_LOG_BYTES / MEBIBYTE} MiB.`,
  severity: 'warning',
  remedy:
    'End long reads: a backup, a console, a stopped replication. After that, a later write cuts the log to 64 MiB.',
  find: ({ database: { isPostgres, file } }) => {
    skipUnless(!isPostgres, 'PostgreSQL keeps its own log');
    skipUnless(existsSync(file), 'there is no database');
    const log = `${file}-wal`;
    const bytes = existsSync(log) ? statSync(log).size : 0;
    const size = `${Math.ceil(bytes / MEBIBYTE)} MiB`;
    return foundIn(bytes > LONG_LOG_BYTES ? [`${log} has ${size}`] : [], `${size}.`);
  },
};

/** Writes to the directory and to the database, because their disks and permissions may differ. */
export const writesSucceed: DoctorCheck = {
  name: 'disk-write',
  about: 'Writes to the data directory (SQLite) and to the database succeed and are synced.',
  severity: 'error',
  remedy: 'Check permissions, mount options (`ro`), free space, and the kernel log for disk errors.',
  find: async ({ config: { DATA_DIR }, database }) => {
    skipUnless(!database.isPostgres || database.problem === undefined, 'the database cannot be read');
    const problems: string[] = [];
    const begunAt = performance.now();
    if (!database.isPostgres) {
      requireFolder(DATA_DIR);
      try {
        writeProbe(DATA_DIR);
      } catch (error) {
        problems.push(`${DATA_DIR} cannot be written: ${(error as Error).message}`);
      }
    }
    if (database.problem === undefined) {
      await database.tryWrite().catch((error: unknown) => {
        problems.push(`the database cannot be written: ${(error as Error).message}`);
      });
    }
    const ms = Math.round(performance.now() - begunAt);
    const untried = database.problem === undefined ? '' : ' The database was not tried.';
    return foundIn(problems, `It took ${ms} ms.${untried}`);
  },
};

function writeProbe(folder: string): void {
  const path = stage(join(folder, '.doctor'));
  try {
    writeNew(path, 'A check of `integration doctor` writes and removes this file.\n');
  } finally {
    unstage(path);
  }
}

function requireFolder(path: string): void {
  skipUnless(existsSync(path), 'there is no data directory');
}

function sizeOf(bytes: number): string {
  return bytes < GIBIBYTE ? `${Math.floor(bytes / MEBIBYTE)} MiB` : `${(bytes / GIBIBYTE).toFixed(1)} GiB`;
}
