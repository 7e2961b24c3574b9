import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Database } from '../../../../src/store/database.js';
import { openPostgres } from '../../../../src/store/dialects/postgres/postgres.js';
import { migrateToLatest } from '../../../../src/store/migrate.js';
import { newPostgresDatabase, PATIENT, type PostgresDatabase } from '../../../support/databases.js';
import { startPgBouncer } from '../../../support/postgres/pgbouncer.js';
import { describeWith } from '../../../support/toolchains.js';

describeWith('pgbouncer', 'PgBouncer with the settings of deploy/', (executable) => {
  let server: PostgresDatabase;
  let pooler: Awaited<ReturnType<typeof startPgBouncer>> | undefined;
  const behind = async (mode?: string) => {
    pooler = await startPgBouncer(executable, server.url, mode);
    return pooler.url;
  };

  beforeEach(async () => {
    server = await newPostgresDatabase();
  });
  afterEach(async () => {
    await pooler?.stop();
    await server.drop();
  });

  test('in transaction mode, the database is migrated, read and written, and more clients than connections take turns', async () => {
    const url = await behind();
    const databases = await Promise.all([1, 2].map(() => openPostgres(url, () => undefined, PATIENT)));
    try {
      await Promise.all(databases.map(({ patient }) => migrateToLatest(patient)));
      const [{ reader }] = databases as [Database, ...Database[]];
      const locks = await sql`
        select 1 from pg_locks inner join pg_database on pg_database.oid = pg_locks.database
        where locktype = 'advisory' and datname = current_database()
      `.execute(reader);
      expect(locks.rows).toEqual([]);
      const reads = databases.flatMap(({ reader }) =>
        Array.from({ length: 100 }, (_, number) =>
          sql<{ n: number }>`select ${number}::int as n`.execute(reader),
        ),
      );
      const rows = (await Promise.all(reads)).flatMap(({ rows }) => rows);
      expect(rows.reduce((sum, { n }) => sum + n, 0)).toBe(9_900);
      const writes = databases.flatMap(({ write }) =>
        Array.from({ length: 50 }, (_, number) =>
          write(async (transaction) => {
            const one = sql`select pg_advisory_xact_lock(${number})`.execute(transaction);
            const two = sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
            await one;
            const three = sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
            const pids = [await two, await three].flatMap(({ rows }) => rows.map(({ pid }) => pid));
            expect(pids[0]).toBe(pids[1]);
          }),
        ),
      );
      await Promise.all(writes);
    } finally {
      await Promise.all(databases.map(({ close }) => close()));
    }
    const stats = (await pooler?.ask('show stats'))?.find(({ database }) =>
      server.url.endsWith(`/${database}`),
    );
    expect(Number(stats?.total_xact_count)).toBeGreaterThan(300);
  });

  test('in statement mode, the domain does not start, and says why', async () => {
    const url = await behind('statement');
    await expect(openPostgres(url, () => undefined, PATIENT)).rejects.toMatchObject({
      message:
        'DATABASE_URL leads to a pooler in statement mode, which has no transactions. Set its pool_mode to transaction or session.',
      mayPass: false,
    });
  });
});
