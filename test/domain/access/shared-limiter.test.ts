import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { CallLimiter, Rate } from '../../../src/domain/access/rate-limiter.js';
import type { CountStore } from '../../../src/domain/access/shared-counts.js';
import { limitersOver } from '../../../src/domain/access/shared-limiter.js';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import { callCounts } from '../../../src/store/adapters/call-counts.js';
import type { Database } from '../../../src/store/database.js';
import { databaseUnderTest } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { signalled } from '../../support/signalled.js';
import { fakeClock } from '../clock.js';

const MINUTE_MS = 60_000;
const TEN: Rate = { limit: 10, windowMs: MINUTE_MS };
const under = databaseUnderTest('PostgreSQL');

interface Node {
  limiter: CallLimiter;
  clock: ReturnType<typeof fakeClock>;
  /** The windows in each statement. */
  statements: number[];
  fault: { add?: CountStore['add'] };
  told: string[];
}

/** Domains on one database, each with a clock and a connection of its own. */
async function nodesOn(count: number, rate: Rate, options: { asksFirst?: boolean; lateMs?: number } = {}) {
  const place = await under.newPlace();
  const databases: Database[] = [];
  const nodes: Node[] = [];
  for (let index = 0; index < count; index += 1) {
    const database = await under.open(place);
    databases.push(database);
    nodes.push(nodeOn(database, rate, options));
  }
  return { nodes, database: databases[0] as Database };
}

function nodeOn(
  database: Database,
  rate: Rate,
  { asksFirst = false, lateMs = MINUTE_MS }: { asksFirst?: boolean; lateMs?: number },
): Node {
  const clock = fakeClock();
  const real = callCounts(database) as CountStore;
  const node = { clock, statements: [] as number[], fault: {} as Node['fault'], told: [] as string[] };
  const store: CountStore = {
    ...real,
    add: (additions) => {
      node.statements.push(additions.length);
      return (node.fault.add ?? real.add)(additions);
    },
  };
  const listener = {
    onAway: (reason: string) => node.told.push(reason),
    onBack: () => node.told.push('back'),
  };
  const newLimiter = limitersOver({
    store,
    clock: clock.now,
    hash: hashSecret,
    listener,
    lateMs,
  });
  return { ...node, limiter: newLimiter('test', rate, { asksFirst }) };
}

async function passedOf(calls: ReturnType<CallLimiter['take']>[]): Promise<number> {
  return (await Promise.all(calls)).filter(({ allowed }) => allowed).length;
}

/** Windows begin and end by the clock of the database; this lets time pass there. */
async function age({ counter }: Database, ms: number): Promise<void> {
  await sql`update call_counts set started_at = started_at - ${ms}, ends_at = ends_at - ${ms}`.execute(
    counter as NonNullable<typeof counter>,
  );
}

describe('a limit over several domains', () => {
  test.each([
    { limit: 10, count: 2, most: 11 },
    { limit: 10, count: 3, most: 12 },
    { limit: 600, count: 3, most: 689 },
  ])(
    'of $limit lets at most $most calls pass on $count domains, when all come at once',
    async ({ limit, count, most }) => {
      const rate = { limit, windowMs: MINUTE_MS };
      const { nodes } = await nodesOn(count, rate);
      const calls = Array.from({ length: 2 * limit }, () => nodes.map(({ limiter }) => limiter.take('a')));
      const passed = await passedOf(calls.flat());
      expect(passed).toBeGreaterThanOrEqual(limit);
      expect(passed).toBeLessThanOrEqual(most);
    },
  );

  test.each([
    ['in turns', (call: number, count: number) => call % count],
    ['one after the other', (call: number, count: number) => Math.floor(call / 30) % count],
  ])('holds when the domains are called %s', async (_, nodeOf) => {
    const { nodes } = await nodesOn(3, TEN);
    let passed = 0;
    for (let call = 0; call < 90; call += 1) {
      const { allowed } = await (nodes[nodeOf(call, 3)] as Node).limiter.take('a');
      passed += allowed ? 1 : 0;
    }
    expect(passed).toBeGreaterThanOrEqual(10);
    expect(passed).toBeLessThan(10 + 3);
  });

  test('is exact on one of them, and tells what remains', async () => {
    const { nodes } = await nodesOn(1, TEN);
    const { limiter } = nodes[0] as Node;
    const taken = [];
    for (let call = 0; call < 12; call += 1) {
      taken.push(await limiter.take('a'));
    }
    expect(taken.map(({ remaining }) => remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]);
    expect(taken.map(({ allowed }) => allowed)).toEqual([...Array(10).fill(true), false, false]);
  });

  test('writes once for many calls, for several callers at once, and nothing for calls that it refuses', async () => {
    const { nodes } = await nodesOn(1, { limit: 600, windowMs: MINUTE_MS });
    const { limiter, statements } = nodes[0] as Node;
    for (let call = 0; call < 700; call += 1) {
      await Promise.all([limiter.take('a'), limiter.take('b')]);
    }
    // One at each half of a share, which is 15 calls.
    expect(statements.length).toBeLessThanOrEqual(2 * (600 / 15));
    const before = statements.length;
    expect(await passedOf([limiter.take('a'), limiter.take('b')])).toBe(0);
    expect(statements.length).toBe(before);
  });

  test('writes nothing for callers who use little of it', async () => {
    const { nodes } = await nodesOn(1, { limit: 600, windowMs: MINUTE_MS });
    const { limiter, statements } = nodes[0] as Node;
    expect(await passedOf(Array.from({ length: 14 }, () => limiter.take('a')))).toBe(14);
    expect(await passedOf(Array.from({ length: 15 }, () => limiter.take('b')))).toBe(15);
    await eventually('a statement', () => statements.length > 0);
    expect(statements).toEqual([1]);
  });

  test('has one window, from the first call anywhere, though clocks are ten minutes apart', async () => {
    const { nodes, database } = await nodesOn(2, TEN);
    const [first, second] = nodes as [Node, Node];
    second.clock.advance(10 * MINUTE_MS);
    // Its removal of windows that are over comes with its first exchange, and not in the middle of this test.
    await second.limiter.take('another');
    await eventually('its first exchange', async () => (await countsIn(database)).includes(1));
    for (let call = 0; call < 10; call += 1) {
      await first.limiter.take('a');
    }
    await eventually('all calls told', async () => (await countsIn(database)).includes(10));
    await age(database, 40_000);

    await second.limiter.take('a');
    const refused = await second.limiter.take('a');
    expect(refused).toMatchObject({ allowed: false, remaining: 0 });
    expect(refused.resetSeconds).toBeGreaterThan(0);
    expect(refused.resetSeconds).toBeLessThanOrEqual(20);

    second.clock.advance(20_000);
    await age(database, 20_000);
    expect(await second.limiter.take('a')).toMatchObject({ allowed: true, remaining: 9 });
    expect(await second.limiter.take('a')).toMatchObject({ allowed: true, remaining: 8 });
  });

  test('whose window was shortened does not count what came before it', async () => {
    const { nodes, database } = await nodesOn(1, { limit: 6_000, windowMs: 10 * MINUTE_MS });
    await passedOf(Array.from({ length: 3_000 }, () => (nodes[0] as Node).limiter.take('a')));
    await eventually('the calls told', async () => (await countsIn(database)).some((used) => used > 2_000));
    await age(database, 9 * MINUTE_MS);

    const { limiter } = nodeOn(database, { limit: 600, windowMs: MINUTE_MS }, {});
    const taken = await Promise.all(Array.from({ length: 700 }, () => limiter.take('a')));
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(600);
    for (const { resetSeconds } of taken) {
      expect(resetSeconds).toBeGreaterThan(0);
      expect(resetSeconds).toBeLessThanOrEqual(60);
    }
  });

  test('does not exchange calls of a window that has ended', async () => {
    const { nodes, database } = await nodesOn(1, { limit: 600, windowMs: MINUTE_MS });
    const { limiter, clock, told } = nodes[0] as Node;
    // Enough to be told in the next turn of the event loop, when their window is over.
    const before = Array.from({ length: 15 }, () => limiter.take('a'));
    clock.advance(MINUTE_MS);
    const after = Array.from({ length: 16 }, () => limiter.take('a'));
    expect(await passedOf([...before, ...after])).toBe(31);
    await eventually('the calls of the new window told', async () => (await countsIn(database)).length === 1);
    expect(await countsIn(database)).toEqual([16]);
    expect(told).toEqual([]);
  });

  test('has no window in between for a domain that exchanges late', async () => {
    const limit = 600;
    const { nodes, database } = await nodesOn(2, { limit, windowMs: MINUTE_MS });
    const [busy, quiet] = nodes as [Node, Node];
    const pass = async (ms: number) => {
      busy.clock.advance(ms);
      quiet.clock.advance(ms);
      await age(database, ms);
    };
    const burstAt = ({ limiter }: Node) => passedOf(Array.from({ length: limit }, () => limiter.take('a')));
    expect(await burstAt(busy)).toBe(limit);
    await pass(MINUTE_MS / 2);
    await quiet.limiter.take('a');
    await pass(MINUTE_MS / 2 + 1_000);
    await callCounts(database)?.forgetOver();
    const passed = await burstAt(quiet);
    // When the window is over that the quiet domain had begun.
    await pass(MINUTE_MS / 2);
    expect(passed + (await burstAt(busy))).toBeLessThan(limit + 2 * 30);
  });

  test('counts calls that wait for an exchange, while their window ends, in the next one', async () => {
    const limit = 600;
    const { nodes, database } = await nodesOn(1, { limit, windowMs: MINUTE_MS });
    const { limiter, clock, fault, statements } = nodes[0] as Node;
    const { told: released, tell: release } = signalled();
    const real = callCounts(database) as CountStore;
    fault.add = async (additions) => {
      await released;
      return real.add(additions);
    };
    // Its exchange is under way while calls of another wait for theirs.
    await passedOf(Array.from({ length: 15 }, () => limiter.take('b')));
    await eventually('an exchange under way', () => statements.length === 1);
    const burst = () => Array.from({ length: limit }, () => limiter.take('a'));
    const waiting = burst();
    clock.advance(MINUTE_MS);
    await age(database, MINUTE_MS);
    release();
    const passed = await passedOf([...waiting, ...burst()]);
    expect(passed).toBeLessThan(limit + 2 * 30);
  });

  test('does not report a replaced window again when a late answer to it arrives', async () => {
    const { nodes, database } = await nodesOn(1, TEN);
    const { limiter, clock, fault, statements, told } = nodes[0] as Node;
    const { told: answered, tell: answer } = signalled();
    fault.add = async (additions) => {
      const totals = await callCounts(database)?.add(additions);
      await answered;
      return totals ?? [];
    };
    const old = [limiter.take('a')];
    await eventually('an exchange under way', () => statements.length === 1);
    old.push(limiter.take('a'));
    clock.advance(MINUTE_MS);
    const fresh = [limiter.take('a')];
    fault.add = undefined;
    answer();
    expect(await passedOf([...old, ...fresh])).toBe(3);
    const isTold = async () => told.length > 0 || (await countsIn(database)).includes(3);
    await eventually('the calls of the new window told', isTold);
    expect(told).toEqual([]);
    expect(statements).toEqual([1, 1]);
  });

  test('keeps to a window if the clock of the database is set back', async () => {
    const { nodes, database } = await nodesOn(1, TEN);
    const { limiter, clock } = nodes[0] as Node;
    await passedOf(Array.from({ length: 10 }, () => limiter.take('a')));
    await eventually('all calls told', async () => (await countsIn(database)).includes(10));
    await age(database, -10 * MINUTE_MS);
    clock.advance(MINUTE_MS);

    await limiter.take('a');
    const taken = await limiter.take('a');
    expect(taken).toMatchObject({ allowed: true, remaining: 8 });
    expect(taken.resetSeconds).toBeGreaterThan(0);
    expect(taken.resetSeconds).toBeLessThanOrEqual(60);
  });

  test('shows what the others have counted from the second call, where it asks at the first', async () => {
    const rate = { limit: 600, windowMs: MINUTE_MS };
    const { nodes, database } = await nodesOn(2, rate, { asksFirst: true });
    const [first, second] = nodes as [Node, Node];
    await passedOf(Array.from({ length: 30 }, () => first.limiter.take('a')));
    await eventually('the calls told', async () => (await countsIn(database)).some((used) => used >= 15));
    await second.limiter.take('a');
    await eventually('the others heard', () => second.limiter.standing('a').remaining < 599);
    expect(second.limiter.standing('a').remaining).toBeLessThanOrEqual(600 - 15 - 1);
  });

  test('ends in no deadlock when many callers are counted on several domains in different orders', async () => {
    const { nodes, database } = await nodesOn(3, TEN);
    const callers = Array.from({ length: 600 }, (_, index) => `caller ${index}`);
    const rounds = nodes.map(async ({ limiter }, index) => {
      const order = index === 1 ? callers.toReversed() : callers;
      for (let round = 0; round < 5; round += 1) {
        await Promise.all(order.map((caller) => limiter.take(caller)));
      }
    });
    await Promise.all(rounds);
    await eventually('all calls told', async () => {
      const counts = await countsIn(database);
      return counts.length === 600 && counts.every((used) => used >= 10);
    });
    expect(nodes.flatMap(({ told }) => told)).toEqual([]);
  });

  test('does not store who called, and forgets windows that are over', async () => {
    const { nodes, database } = await nodesOn(1, TEN);
    const { limiter, clock } = nodes[0] as Node;
    await limiter.take('192.0.2.7');
    await eventually('a count', async () => (await countsIn(database)).length === 1);
    const { rows } = await sql<{ subject: string }>`select subject from call_counts`.execute(database.reader);
    expect(rows[0]?.subject).toMatch(/^[\w-]{43}$/);

    await age(database, 2 * MINUTE_MS);
    clock.advance(MINUTE_MS);
    await limiter.take('another');
    await limiter.take('another');
    await eventually('the old count gone', async () => (await countsIn(database)).join() === '2');
  });
});

describe('while the database does not exchange counts', () => {
  test('a domain counts alone, loses no call, and tells the others later', async () => {
    const { nodes, database } = await nodesOn(2, TEN);
    const [node, other] = nodes as [Node, Node];
    node.fault.add = async () => {
      throw new Error('the database is away');
    };
    const taken = Array.from({ length: 12 }, () => node.limiter.take('a'));
    expect(await passedOf(taken)).toBe(10);
    expect(node.told).toEqual(['the database is away']);
    expect(node.limiter.take('b')).toMatchObject({ allowed: true });
    expect(node.limiter.take('b')).toMatchObject({ allowed: true });
    await nextTurn();
    await nextTurn();
    expect(node.statements).toHaveLength(1);

    node.fault.add = undefined;
    node.clock.advance(1_000);
    expect(node.limiter.take('b')).toMatchObject({ allowed: true });
    await eventually('the counts told', async () => (await countsIn(database)).includes(3));
    await eventually('the domain to hear it', () => node.told.includes('back'));
    await other.limiter.take('b');
    await eventually('both counted', async () => (await countsIn(database)).includes(4));

    // The clock of the database was set back a little, to soon after the failure.
    node.clock.advance(-1);
    expect(node.limiter.take('c')).toMatchObject({ allowed: true });
    const waiting = node.limiter.take('c');
    expect(waiting).toBeInstanceOf(Promise);
    expect(await waiting).toMatchObject({ allowed: true });
  });

  test('a call that is decided after the end of its window has no wait, and none below zero', async () => {
    const { nodes } = await nodesOn(1, TEN);
    const { limiter, clock, fault } = nodes[0] as Node;
    fault.add = async () => {
      clock.advance(2 * MINUTE_MS);
      throw new Error('the database is away');
    };
    const taken = await Promise.all([limiter.take('a'), limiter.take('a')]);
    expect(taken.map(({ resetSeconds }) => resetSeconds)).toEqual([60, 0]);
  });

  test('a late answer delays no call, and its counts are not added twice', async () => {
    const { nodes, database } = await nodesOn(1, TEN, { lateMs: 1 });
    const node = nodes[0] as Node;
    const real = callCounts(database) as CountStore;
    const { told: answered, tell: answer } = signalled();
    node.fault.add = async (additions) => {
      const totals = await real.add(additions);
      await answered;
      return totals;
    };
    const calls = Array.from({ length: 4 }, () => node.limiter.take('a'));
    expect(await passedOf(calls)).toBe(4);
    expect(node.told).toEqual(['no answer within 1 ms']);
    expect(node.limiter.take('a')).toMatchObject({ allowed: true, remaining: 5 });

    node.fault.add = undefined;
    answer();
    await eventually('all calls told', async () => (await countsIn(database)).includes(5));
    await eventually('the domain to hear it', () => node.told.includes('back'));
    expect(node.limiter.standing('a').remaining).toBe(5);
  });
});

async function countsIn({ reader }: Database): Promise<number[]> {
  const { rows } = await sql<{ used: number }>`select used from call_counts order by used`.execute(reader);
  return rows.map(({ used }) => Number(used));
}
