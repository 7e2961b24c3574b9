import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from '../../files/folders.js';
import { writeWhole } from '../../files/staged.js';
import { StoreError } from '../store-error.js';

/** A file in the data directory of a SQLite database that was moved: no service starts on it. */
export const MOVED_FILE = 'moved-to-postgresql.json';

export interface Moved {
  /** Also the time of the audit record in the target. */
  at: number;
  /** The address of the target, without its password. */
  to: string;
}

export function movedFrom(dataDir: string): Moved | undefined {
  const file = join(dataDir, MOVED_FILE);
  if (!existsSync(file)) {
    return undefined;
  }
  try {
    const { movedAt, to } = JSON.parse(readFileSync(file, 'utf8')) as { movedAt: string; to: string };
    return { at: new Date(movedAt).getTime(), to };
  } catch (error) {
    throw new StoreError(
      `The file ${file}, which says that the database was moved to PostgreSQL, cannot be read: ${(error as Error).message}.`,
      { cause: error },
    );
  }
}

/** Two databases in use would send webhooks twice and accept each other's used refresh tokens. */
export function refuseMoved(dataDir: string): void {
  const moved = movedFrom(dataDir);
  if (moved !== undefined) {
    throw movedError(dataDir, moved);
  }
}

export function movedError(dataDir: string, { at, to }: Moved): StoreError {
  return new StoreError(
    `The database in ${dataDir} was moved to PostgreSQL (${to}) on ${inWords(at)}. Set DATABASE_URL to it. To return to this SQLite database, without the changes since then, stop the service on PostgreSQL for good and delete ${join(dataDir, MOVED_FILE)}.`,
  );
}

export function writeMoved(dataDir: string, { at, to }: Moved): void {
  const content = { movedAt: new Date(at).toISOString(), to };
  writeWhole(join(dataDir, MOVED_FILE), `${JSON.stringify(content, null, 2)}\n`);
}

export function forgetMoved(dataDir: string): void {
  rmSync(join(dataDir, MOVED_FILE));
  syncFolder(dataDir);
}

function inWords(time: number): string {
  return `${new Date(time).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length).replace('T', ' ')} UTC`;
}
