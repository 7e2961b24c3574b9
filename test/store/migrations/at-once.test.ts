import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import { openPostgres, SERVED_LIMITS } from '../../../src/store/dialects/postgres/postgres.js';
import { migrateToLatest, migratorOf, schemaDrift } from '../../../src/store/migrate.js';
import { migrations } from '../../../src/store/migrations/index.js';
import { runScript } from '../../../src/store/migrations/script.js';
import type { Step } from '../../../src/store/migrations/step.js';
import { databaseUnderTest, newPostgresDatabase, PATIENT } from '../../support/databases.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../../support/eventually.js';
import { stallingProxy } from '../../support/stalling-proxy.js';

test.each(['read committed', 'serializable'])(
  'nodes that start together on PostgreSQL migrate one after another, where the default isolation is %s',
  async (isolation) => {
    const { url, drop } = await newPostgresDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const database = client.escapeIdentifier(new URL(url).pathname.slice(1));
    await client.query(`alter database ${database} set default_transaction_isolation = '${isolation}'`);
    await client.end();
    const nodes = await Promise.all([1, 2, 3].map(() => openPostgres(url, () => undefined, PATIENT)));
    try {
      await Promise.all(nodes.map(({ patient }) => migrateToLatest(patient)));
      for (const { patient } of nodes) {
        expect(await schemaDrift(patient)).toEqual({ missing: [], newer: [], required: [] });
      }
    } finally {
      await Promise.all(nodes.map(({ close }) => close()));
      await drop();
    }
  },
);

const under = databaseUnderTest('PostgreSQL');
const LONG_S = LONGER_THAN_A_TEST_MS / 1_000;
const stepOf = (statements: string): Record<string, Step> => ({
  'the-step': { up: (db) => runScript(db, statements) },
});

test('the server ends a migration that was killed within its statement, and the next one begins anew', async () => {
  const place = await under.newPlace();
  const proxy = await stallingProxy(place.databaseUrl as string);
  const killed = await under.open({ ...place, databaseUrl: proxy.url });
  const { patient } = await under.open(place);
  await sql`drop table kysely_migration`.execute(patient);
  const [change, sleep] = ['alter table integrations add column more integer', `select pg_sleep(${LONG_S})`];
  const migration = migratorOf(killed.patient, stepOf(`${change}; ${sleep}`)).migrateToLatest();
  try {
    await eventually('the long statement', async () => {
      const look = sql`select from pg_stat_activity where query = ${sleep}`;
      return (await look.execute(patient)).rows.length > 0;
    });
  } finally {
    proxy.cut();
  }
  expect(await migration).toMatchObject({ error: expect.anything() });
  expect(await migratorOf(patient, stepOf(change)).migrateToLatest()).toMatchObject({
    results: [{ status: 'Success' }],
  });
  proxy.close();
});

/** Waits for locks end as in service. All other limits are long, for a busy machine. */
const { longLockMs: _, ...others } = PATIENT;
const LOCKS_AS_SERVED = { ...others, server: SERVED_LIMITS.server };

/** The migration after it changes the table `users`. */
const BEFORE_CHANGE_OF_USERS = '0039-rotations';

test('a migration that waits for a table fails no call that queues behind it, and is made once the table is free', async () => {
  const place = await under.newEmptyPlace();
  const { patient } = await under.open(place);
  await migratorOf(patient, migrations).migrateTo(BEFORE_CHANGE_OF_USERS);
  const { reader } = await under.open(place, LOCKS_AS_SERVED);
  const holder = new pg.Client({ connectionString: place.databaseUrl });
  await holder.connect();
  await holder.query('begin; lock table users in access share mode');
  try {
    const starting = under.openStore(place, 'demo', { limits: LOCKS_AS_SERVED }).catch((error) => error);
    await eventually('the migration in the queue', async () => {
      const look = sql`select from pg_locks where relation = 'users'::regclass and not granted`;
      return (await look.execute(patient)).rows.length > 0;
    });
    expect(await reader.selectFrom('users').select('id').execute()).toEqual([]);
    expect(await starting).toMatchObject({
      mayPass: true,
      message: expect.stringMatching(/^The database cannot be migrated .*lock timeout/),
    });
  } finally {
    await holder.end();
  }
  const store = await under.openStore(place, 'demo', { limits: LOCKS_AS_SERVED });
  expect((await store.schemaDrift()).missing).toEqual([]);
});
