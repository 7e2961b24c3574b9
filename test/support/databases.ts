import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, describe } from '@jest/globals';
import pg from 'pg';
import type { Database } from '../../src/store/database.js';
import { openPostgres } from '../../src/store/dialects/postgres.js';
import { openSqlite } from '../../src/store/dialects/sqlite.js';
import { migrateToLatest } from '../../src/store/migrate.js';
import { openStore, type Store } from '../../src/store/store.js';
import { newTemporaryDirectory } from './temporary-directory.js';

/** Where one empty database is, as the settings say it. */
export interface DatabasePlace {
  dataDir: string;
  databaseUrl?: string;
}

export interface DatabaseUnderTest {
  kind: 'SQLite' | 'PostgreSQL';
  /** A place nobody has used yet. */
  newPlace(): Promise<DatabasePlace>;
  /** The bare database at a place, tables or not. */
  open(place: DatabasePlace): Promise<Database>;
  /** A database with all tables and no rows. */
  openMigrated(place?: DatabasePlace): Promise<Database>;
  /** Every port over the database at a place. */
  openStore(place: DatabasePlace, environment?: 'live' | 'demo'): Promise<Store>;
}

/** Runs a group of tests on SQLite and again on PostgreSQL. What a test opened is closed and removed after it. */
export function describeEachDatabase(title: string, body: (database: DatabaseUnderTest) => void): void {
  describe(`${title}, on SQLite`, () => body(databaseUnderTest('SQLite')));
  describe(`${title}, on PostgreSQL`, () => body(databaseUnderTest('PostgreSQL')));
}

/** For groups that concern one of the two only. */
export function databaseUnderTest(kind: DatabaseUnderTest['kind']): DatabaseUnderTest {
  const cleanups: (() => unknown)[] = [];
  /** Emptied ones: a new PostgreSQL database takes a quarter of a second to make and remove. */
  const spare: PostgresDatabase[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) {
      await cleanup();
    }
  });
  afterAll(async () => {
    await Promise.all(spare.map(({ drop }) => drop()));
  });
  const closing = <T extends { close(): Promise<void> }>(opened: T): T => {
    cleanups.push(() => opened.close());
    return opened;
  };
  const open = async ({ dataDir, databaseUrl }: DatabasePlace) =>
    closing(
      databaseUrl === undefined
        ? openSqlite(join(dataDir, 'integration.db'))
        : await openPostgres(databaseUrl, () => undefined),
    );
  const newPlace = async () => {
    const dataDir = newTemporaryDirectory();
    cleanups.push(() => rmSync(dataDir, { recursive: true, force: true }));
    if (kind === 'SQLite') {
      return { dataDir };
    }
    const place = spare.pop() ?? (await newPostgresDatabase());
    cleanups.push(async () => {
      await run(place.url, 'drop schema public cascade; create schema public');
      spare.push(place);
    });
    return { dataDir, databaseUrl: place.url };
  };
  return {
    kind,
    newPlace,
    open,
    openMigrated: async (place) => {
      const database = await open(place ?? (await newPlace()));
      await migrateToLatest(database.migrator);
      return database;
    },
    openStore: async (place, environment = 'demo') => closing(await openStore({ ...place, environment })),
  };
}

export interface PostgresDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A new, empty database on the PostgreSQL of this run. */
export async function newPostgresDatabase(): Promise<PostgresDatabase> {
  const server = await postgresUrl();
  const name = `test_${randomBytes(8).toString('hex')}`;
  await run(`${server}/postgres`, `create database ${name}`);
  return {
    url: `${server}/${name}`,
    drop: () => run(`${server}/postgres`, `drop database ${name} with (force)`),
  };
}

async function postgresUrl(): Promise<string> {
  const keeper = process.env.TEST_POSTGRES_KEEPER;
  if (!keeper) {
    throw new Error('Run this through jest with test/jest.config.js, whose global set-up keeps PostgreSQL.');
  }
  const { url, error } = JSON.parse(await text(connect(keeper))) as { url?: string; error?: string };
  if (!url) {
    throw new Error(`PostgreSQL did not start: ${error}`);
  }
  return url;
}

async function run(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
