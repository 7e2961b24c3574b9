import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import type { Database, Reader, Writer } from '../../../../src/store/database.js';
import { openPostgres, SERVED_LIMITS } from '../../../../src/store/dialects/postgres/postgres.js';
import { migrateToLatest } from '../../../../src/store/migrate.js';
import { newPostgresDatabase, PATIENT } from '../../../support/databases.js';
import { transactionPooler } from '../../../support/postgres/transaction-pooler.js';

const SETTINGS = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'] as const;

const settingsOf = async (db: Reader | Writer) => {
  const { rows } = await sql<{ name: string; setting: string }>`
    select name, setting from pg_settings where name in (${sql.join(SETTINGS)})
  `.execute(db);
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
};

const LIMITS = { ...PATIENT, server: SERVED_LIMITS.server };

/** Another client's connection to the same address. */
async function settingsOfStranger(url: string) {
  const stranger = new pg.Client({ connectionString: url });
  await stranger.connect();
  try {
    const { rows } = await stranger.query('select name, setting from pg_settings where name = any($1)', [
      SETTINGS,
    ]);
    return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  } finally {
    await stranger.end();
  }
}

const IN_A_WRITE = {
  lock_timeout: '3000',
  statement_timeout: '20000',
  idle_in_transaction_session_timeout: '15000',
};

describe.each(['refused', 'ignored'] as const)(
  'behind a pooler in transaction mode, settings that it does not know being %s when a connection begins',
  (unknownSettings) => {
    async function withPooler(test: (database: Database, url: string) => Promise<void>) {
      const { url } = await newPostgresDatabase();
      const pooler = await transactionPooler(url, unknownSettings);
      const database = await openPostgres(pooler.url, () => undefined, LIMITS);
      try {
        await test(database, pooler.url);
      } finally {
        await database.close();
        pooler.close();
      }
    }

    test('no pool of ours leaves its limits to another, or to a stranger', () =>
      withPooler(async ({ reader, prober, patient, write }, url) => {
        const before = await settingsOfStranger(url);
        for (const pool of [reader, prober, patient]) {
          expect(await settingsOf(pool)).toEqual(before);
        }
        expect(await write(settingsOf)).toEqual(IN_A_WRITE);
        expect(await settingsOf(reader)).toEqual(before);
        expect(await settingsOfStranger(url)).toEqual(before);
      }));

    test('the database is brought to this version', () =>
      withPooler(async ({ patient, reader }) => {
        await migrateToLatest(patient);
        expect(await reader.selectFrom('instances').selectAll().execute()).toEqual([]);
      }));
  },
);

test('without a pooler, reads are ended by the server too', async () => {
  const { url } = await newPostgresDatabase();
  const database = await openPostgres(url, () => undefined, LIMITS);
  try {
    const { lock_timeout, statement_timeout } = await settingsOf(database.reader);
    expect({ lock_timeout, statement_timeout }).toEqual({ lock_timeout: '3000', statement_timeout: '20000' });
  } finally {
    await database.close();
  }
});
