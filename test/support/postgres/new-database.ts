import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { openPostgres } from '../../../src/store/dialects/postgres/postgres.js';
import { migrateToLatest } from '../../../src/store/migrate.js';
import { PATIENT } from './patient.js';

const TEMPLATE = 'migrated';
/** Any number, the same in every worker of a run. */
const TEMPLATE_LOCK = 1;

export interface PostgresDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A new, empty database on the PostgreSQL of this run. */
export function newPostgresDatabase(): Promise<PostgresDatabase> {
  return newDatabase('');
}

/** A new database with all tables and no rows, for less than half of what the migrations take. */
export async function newMigratedPostgresDatabase(): Promise<PostgresDatabase> {
  await templateMade();
  return newDatabase(`template ${TEMPLATE} strategy file_copy`);
}

async function newDatabase(origin: string): Promise<PostgresDatabase> {
  const server = await postgresUrl();
  const name = `test_${randomBytes(8).toString('hex')}`;
  await (await administrator()).query(`create database ${name} ${origin}`);
  return {
    url: `${server}/${name}`,
    drop: async () => {
      await (await administrator()).query(`drop database ${name} with (force)`);
    },
  };
}

let template: Promise<void> | undefined;

/** Made by the first caller of a run, while others wait. */
function templateMade(): Promise<void> {
  template ??= makeTemplate();
  return template;
}

async function makeTemplate(): Promise<void> {
  // Its end releases the lock.
  const admin = await newAdministrator();
  try {
    await admin.query(`select pg_advisory_lock(${TEMPLATE_LOCK})`);
    const { rows } = await admin.query(`select from pg_database where datname = '${TEMPLATE}'`);
    if (rows.length === 0) {
      await admin.query('drop database if exists migrating with (force)');
      await admin.query('create database migrating');
      const database = await openPostgres(`${await postgresUrl()}/migrating`, () => undefined, PATIENT);
      await migrateToLatest(database.patient);
      await database.close();
      await admin.query(`alter database migrating rename to ${TEMPLATE}`);
    }
  } finally {
    await admin.end();
  }
}

let serverUrl: Promise<string> | undefined;

function postgresUrl(): Promise<string> {
  serverUrl ??= askKeeper();
  return serverUrl;
}

async function askKeeper(): Promise<string> {
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

let ofThisWorker: Promise<pg.Client> | undefined;

/** Kept, because a connection costs half as much as a database. The worker does not wait for it. */
function administrator(): Promise<pg.Client> {
  ofThisWorker ??= newAdministrator().then((admin) => {
    admin.on('error', () => {
      ofThisWorker = undefined;
    });
    // Not in its types.
    (admin as pg.Client & { unref(): void }).unref();
    return admin;
  });
  return ofThisWorker;
}

async function newAdministrator(): Promise<pg.Client> {
  const admin = new pg.Client({ connectionString: `${await postgresUrl()}/postgres` });
  await admin.connect();
  return admin;
}
