import { sqliteFileIn } from './data-directory.js';
import type { Database, Reader } from './database.js';
import { openPostgresReader } from './dialects/postgres/postgres.js';
import { openSqliteReader } from './dialects/sqlite.js';
import { executedMigrations, refuseIncomplete, type SchemaDrift, schemaDrift } from './migrate.js';
import { asRefused, StoreError } from './store-error.js';

/** What a database records about the service that uses it. */
export interface Recorded extends SchemaDrift {
  /** Undefined before the first start. */
  environment?: 'live' | 'demo';
  /** Null before the first start, and in databases of earlier releases. */
  issuer: string | null;
}

/** PostgreSQL if it is named, otherwise a SQLite file. */
type ReaderPlace =
  | { databaseUrl: string; dataDir?: string }
  | { databaseUrl?: undefined; dataDir: string }
  | { file: string };

/** Opens the database for reading only. Throws a StoreError if there is none. */
export async function openReader(place: ReaderPlace): Promise<Pick<Database, 'reader' | 'close'>> {
  if ('file' in place) {
    return openSqliteReader(place.file);
  }
  return place.databaseUrl === undefined
    ? openSqliteReader(sqliteFileIn(place.dataDir))
    : openPostgresReader(place.databaseUrl);
}

export async function reading<T>(place: ReaderPlace, read: (reader: Reader) => Promise<T>): Promise<T> {
  const { reader, close } = await openReader(place);
  try {
    return await read(reader);
  } catch (error) {
    throw asRefused(error);
  } finally {
    await close();
  }
}

export async function recordedIn(reader: Reader): Promise<Recorded> {
  await refuseIncomplete(reader);
  if ((await executedMigrations(reader)).length === 0) {
    return { issuer: null, missing: [], newer: [], required: [] };
  }
  const drift = await schemaDrift(reader);
  // The first of ours: with other migrations and without it, another program with Kysely made the database.
  if (drift.missing.includes('0001-directory-roots')) {
    throw new StoreError(
      `The database has been migrated by another program (it has ${drift.newer.join(', ')}). Set DATABASE_URL or DATA_DIR to the database of the service.`,
    );
  }
  // All columns: a database of an earlier release has no issuer.
  const row = await reader.selectFrom('environment').selectAll().executeTakeFirst();
  return { environment: row?.name, issuer: row?.issuer ?? null, ...drift };
}
