import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import { RESTORE_MARK } from '../../../src/store/migrate.js';
import { migrations } from '../../../src/store/migrations/index.js';
import { databaseUnderTest, describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { refusalOf } from './refusal-of.js';

const newest = Object.keys(migrations).at(-1) as string;
/** The lock with which Kysely migrates one process at a time. */
const MIGRATION_LOCK = '3853314791062309107';

describe('a restore that begins beside a start', () => {
  const under = databaseUnderTest('PostgreSQL');

  test('makes the start refuse the database, which it has not settled yet', async () => {
    const place = await under.newPlace();
    const restore = new pg.Client({ connectionString: place.databaseUrl });
    await restore.connect();
    try {
      await restore.query(`select pg_advisory_lock(${MIGRATION_LOCK})`);
      const refused = refusalOf({ ...place, environment: 'live' });
      await eventually('the wait for the lock', async () => {
        const { rows } = await restore.query(`
          select 1 from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())
        `);
        return rows.length > 0;
      });
      await restore.query(`create table ${RESTORE_MARK} (since bigint)`);
      await restore.query(`select pg_advisory_unlock(${MIGRATION_LOCK})`);
      expect((await refused).message).toMatch(/^A restore into this database is not complete\. /);
    } finally {
      await restore.end();
    }
  });
});

describeEachDatabase('migrations', (under) => {
  test('make a database of nothing, which then answers', async () => {
    const store = await under.openStore(await under.newEmptyPlace());
    await expect(store.ping()).resolves.toBeUndefined();
  });

  test('are all there afterwards; the store tells which are missing, and which a newer version has added', async () => {
    const place = await under.newEmptyPlace();
    const store = await under.openStore(place);
    expect(await store.schemaDrift()).toEqual({ missing: [], newer: [], required: [] });
    const database = await under.open(place);
    await sql`update kysely_migration set name = '9999-later' where name = ${newest}`.execute(
      database.patient,
    );
    expect(await store.schemaDrift()).toEqual({
      missing: [newest],
      newer: ['9999-later'],
      required: ['9999-later'],
    });
  });

  test('do nothing at the second start', async () => {
    const place = await under.newEmptyPlace();
    await (await under.openStore(place)).close();
    const database = await under.open(place);
    const before = await database.patient.introspection.getTables();

    await (await under.openStore(place)).close();
    expect(await database.patient.introspection.getTables()).toEqual(before);
  });

  test('that fail leave nothing behind, and say so in a sentence', async () => {
    const place = await under.newEmptyPlace();
    const database = await under.open(place);
    // The last table of the migration is there already, so that it fails when all the others are made.
    await sql`create table service_tokens (id text)`.execute(database.patient);

    const { message } = await refusalOf({ ...place, environment: 'demo' });
    expect(message).toContain('service_tokens');
    const tables = await database.patient.introspection.getTables();
    expect(tables.map(({ name }) => name)).toEqual(['service_tokens']);

    await sql`drop table service_tokens`.execute(database.patient);
    await expect(under.openStore(place)).resolves.toBeDefined();
  });

  test('of a store that was closed leave it closed: it answers no more', async () => {
    const store = await under.openStore(await under.newEmptyPlace());
    await store.close();
    await expect(store.ping()).rejects.toBeDefined();
    await expect(store.purge.remove('api_key', 1, 1)).rejects.toBeDefined();
  });
});
