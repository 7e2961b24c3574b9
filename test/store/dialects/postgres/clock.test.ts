import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import {
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import { PostgresClock } from '../../../../src/store/dialects/postgres/clock.js';
import type { Schema } from '../../../../src/store/schema.js';

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
