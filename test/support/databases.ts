import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe } from '@jest/globals';
import type { Database } from '../../src/store/database.js';
import { openPostgres, type PostgresLimits } from '../../src/store/dialects/postgres/postgres.js';
import { openSqlite } from '../../src/store/dialects/sqlite.js';
import { openStore, type Store, type StoreOptions } from '../../src/store/store.js';
import {
  newMigratedPostgresDatabase,
  newPostgresDatabase,
  type PostgresDatabase,
} from './postgres/new-database.js';
import { PATIENT } from './postgres/patient.js';
import { migratedSqliteFile } from './sqlite/template.js';
import { newDataDirectory } from './temporary-directory.js';

export { newPostgresDatabase, type PostgresDatabase } from './postgres/new-database.js';
export { PATIENT } from './postgres/patient.js';

/** Where one database is, as the settings say it. */
export interface DatabasePlace {
  dataDir: string;
  databaseUrl?: string;
}

export interface DatabaseUnderTest {
  kind: 'SQLite' | 'PostgreSQL';
  /** A place of a database with all tables and no rows: a copy of one that was migrated once in this run. */
  newPlace(): Promise<DatabasePlace>;
  /** An unused place, without migrations. */
  newEmptyPlace(): Promise<DatabasePlace>;
  /** The bare database at a place, tables or not. */
  open(place: DatabasePlace, limits?: PostgresLimits): Promise<Database>;
  /** The database at a place that `newPlace` gave, or at a new one. */
  openMigrated(place?: DatabasePlace): Promise<Database>;
  /** Every port over the database at a place. */
  openStore(
    place: DatabasePlace,
    environment?: 'live' | 'demo',
    options?: Partial<StoreOptions>,
  ): Promise<Store>;
}

/** Runs a group of tests on SQLite and again on PostgreSQL, and cleans up after each test. */
export function describeEachDatabase(title: string, body: (database: DatabaseUnderTest) => void): void {
  describe(`${title}, on SQLite`, () => body(databaseUnderTest('SQLite')));
  describe(`${title}, on PostgreSQL`, () => body(databaseUnderTest('PostgreSQL')));
}

/** For groups that concern one of the two only. */
export function databaseUnderTest(kind: DatabaseUnderTest['kind']): DatabaseUnderTest {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) {
      await cleanup();
    }
  });
  const closing = <T extends { close(): Promise<void> }>(opened: T): T => {
    cleanups.push(() => opened.close());
    return opened;
  };
  const open = async ({ dataDir, databaseUrl }: DatabasePlace, limits = PATIENT) =>
    closing(
      databaseUrl === undefined
        ? openSqlite(join(dataDir, 'integration.db'))
        : await openPostgres(databaseUrl, () => undefined, limits),
    );
  const newDirectory = () => {
    const dataDir = newDataDirectory();
    cleanups.push(() => rmSync(dataDir, { recursive: true, force: true }));
    return dataDir;
  };
  const postgresPlace = async (making: Promise<PostgresDatabase>) => {
    const { url, drop } = await making;
    cleanups.push(drop);
    return { dataDir: newDirectory(), databaseUrl: url };
  };
  const newPlace = async () => {
    if (kind === 'PostgreSQL') {
      return postgresPlace(newMigratedPostgresDatabase());
    }
    const dataDir = newDirectory();
    copyFileSync(await migratedSqliteFile(), join(dataDir, 'integration.db'));
    return { dataDir };
  };
  return {
    kind,
    newPlace,
    newEmptyPlace: async () =>
      kind === 'PostgreSQL' ? postgresPlace(newPostgresDatabase()) : { dataDir: newDirectory() },
    open,
    openMigrated: async (place) => open(place ?? (await newPlace())),
    openStore: async (place, environment = 'demo', options = {}) =>
      closing(await openStore({ ...place, environment, limits: PATIENT, ...options })),
  };
}
