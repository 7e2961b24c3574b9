import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import {
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import { PostgresClock } from '../../../../src/store/dialects/postgres/clock.js';
import type { Schema } from '../../../../src/store/schema.js';
import { databaseUnderTest } from '../../../support/databases.js';

const under = databaseUnderTest('PostgreSQL');
const EVERY_MS = 10_000;
/** The time of the server when the test begins. */
const THERE = 1_800_000_000_000;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** A clock and a fake server: questions take no time, and answers take `tookMs`. */
function between() {
  const begunAt = performance.now();
  const there = { aheadMs: 0, tookMs: 0, isAway: false, asked: 0 };
  const time = () => THERE + performance.now() - begunAt + there.aheadMs;
  const connection = {
    executeQuery: async () => {
      there.asked += 1;
      if (there.isAway) {
        throw new Error('away');
      }
      const at = time();
      jest.advanceTimersByTime(there.tookMs);
      return { rows: [{ at }] };
    },
  } as unknown as DatabaseConnection;
  class Server extends DummyDriver {
    override acquireConnection = async () => connection;
  }
  const asking = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new Server(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const told: unknown[] = [];
  const clock = new PostgresClock(asking, (apartMs) => told.push(apartMs));
  return {
    there,
    told,
    clock,
    /** How far the clock is ahead of the server. */
    ahead: () => clock.now() - time(),
    nextComparison: () => jest.advanceTimersByTimeAsync(EVERY_MS),
  };
}

test('the clock is as exact as the quickest answer of the server', async () => {
  const { clock, there, ahead, nextComparison } = between();
  there.tookMs = 30;
  await clock.start();
  expect(Math.abs(ahead())).toBeLessThanOrEqual(30);
  there.tookMs = 4_000;
  await nextComparison();
  expect(Math.abs(ahead())).toBeLessThanOrEqual(30);
  there.tookMs = 2;
  await nextComparison();
  expect(Math.abs(ahead())).toBeLessThanOrEqual(2);
});

test('it goes on while the server does not answer, and follows a step of its clock afterwards', async () => {
  const { clock, there, ahead, nextComparison } = between();
  await clock.start();
  there.isAway = true;
  await nextComparison();
  expect(Math.abs(ahead())).toBeLessThanOrEqual(1);
  there.aheadMs -= 600_000;
  there.isAway = false;
  await nextComparison();
  expect(Math.abs(ahead())).toBeLessThanOrEqual(1);
});

test('it does not start without an answer, and asks no more when it has stopped', async () => {
  const { clock, there, nextComparison } = between();
  there.isAway = true;
  await expect(clock.start()).rejects.toThrow('away');
  there.isAway = false;
  await clock.start();
  clock.stop();
  const { asked } = there;
  await nextComparison();
  expect(there.asked).toBe(asked);
});

test('it tells once when the clock of this machine is far from that of the server, and once when no longer', async () => {
  const { clock, there, told, nextComparison } = between();
  there.aheadMs = Date.now() - THERE;
  await clock.start();
  expect(told).toEqual([]);
  there.aheadMs += 60_000;
  await nextComparison();
  await nextComparison();
  there.aheadMs -= 60_000;
  await nextComparison();
  expect(told).toEqual([60_000, undefined]);
});

test('it is that of the server, whatever functions and operators the search path of the role finds first', async () => {
  jest.useRealTimers();
  const place = await under.newPlace();
  const database = await under.open(place);
  const { name } = await database.write(async (writer) => {
    for (const statement of [
      'create schema evil',
      `create function evil.clock_timestamp() returns timestamptz language sql
        as $$ select pg_catalog.clock_timestamp() + interval '400 days' $$`,
      `create function evil.doubled(numeric, integer) returns numeric language sql
        as $$ select $1 operator(pg_catalog.*) $2 operator(pg_catalog.*) 2 $$`,
      'create operator evil.* (leftarg = numeric, rightarg = integer, function = evil.doubled)',
    ]) {
      await sql.raw(statement).execute(writer);
    }
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(writer);
    return rows[0] as { name: string };
  });
  const path = sql`alter database ${sql.id(name)} set search_path = evil, public, pg_catalog`;
  await database.write((writer) => path.execute(writer));
  const deceived = await under.open(place);
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(deceived.reader);
  expect(Number(rows[0]?.at)).toBeGreaterThan(Date.now() + 300 * 86_400_000);
  expect(Math.abs(deceived.clock() - Date.now())).toBeLessThan(60_000);
});
