import { sqliteFileIn } from './copies/sqlite-copy.js';
import type { Reader } from './database.js';
import { openPostgresReader } from './dialects/postgres/postgres.js';
import { openSqliteReader } from './dialects/sqlite.js';
import { executedMigrations, refuseIncomplete, type SchemaDrift, schemaDrift } from './migrate.js';

/** What a database records about the service that uses it. */
export interface Recorded extends SchemaDrift {
  /** Undefined before the first start. */
  environment?: 'live' | 'demo';
  /** Null before the first start, and in databases of earlier releases. */
  issuer: string | null;
}

export interface ReaderPlace {
  dataDir: string;
  databaseUrl?: string | undefined;
}

/** Opens the database for reading only. Throws a StoreError if there is none. */
export function openReader({ dataDir, databaseUrl }: ReaderPlace) {
  return databaseUrl === undefined
    ? Promise.resolve().then(() => openSqliteReader(sqliteFileIn(dataDir)))
    : openPostgresReader(databaseUrl);
}

export async function recordedAt(place: ReaderPlace): Promise<Recorded> {
  const { reader, close } = await openReader(place);
  try {
    return await recordedIn(reader);
  } finally {
    await close();
  }
}

export async function recordedIn(reader: Reader): Promise<Recorded> {
  await refuseIncomplete(reader);
  if ((await executedMigrations(reader)).length === 0) {
    return { issuer: null, missing: [], newer: [], required: [] };
  }
  // All columns: a database of an earlier release has no issuer.
  const row = await reader.selectFrom('environment').selectAll().executeTakeFirst();
  return { environment: row?.name, issuer: row?.issuer ?? null, ...(await schemaDrift(reader)) };
}
