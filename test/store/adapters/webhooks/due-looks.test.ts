import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import type { DeliveryId, SubscriptionId } from '../../../../generated/ids.js';
import { claiming } from '../../../../src/store/adapters/webhooks/sending/claims.js';
import { DueLooks } from '../../../../src/store/adapters/webhooks/sending/due-looks.js';
import { sendingUnitOfWork } from '../../../../src/store/adapters/webhooks/sending/unit-of-work.js';
import type { Database, Writer } from '../../../../src/store/database.js';
import { SERVED_LIMITS } from '../../../../src/store/dialects/postgres/postgres.js';
import { deadRowsRig } from '../../../chaos/webhooks/dead-rows.js';
import { databaseUnderTest, PATIENT } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { NEVER_SLOW, refused, sendingRig } from './sending/rig.js';

const under = databaseUnderTest('PostgreSQL');
const databases = { SQLite: databaseUnderTest('SQLite'), PostgreSQL: under };
const SLOW_MS = 10;
const SLOW_LOOK_MS = 2 * SLOW_MS;

/** A rig and looks that all seem slow, on a clock that passes only as each look takes it. */
async function slowLooks(mostKnown = 1_000) {
  const rig = await deadRowsRig(under, NEVER_SLOW);
  const { database, clock } = rig;
  /** How the server is; a test may change it. */
  const server = { tookMs: SLOW_LOOK_MS, roundTripMs: 0, isFailing: false, isAway: false };
  let ms = 0;
  const failures: unknown[] = [];
  const limits = { ...NEVER_SLOW, slowMs: SLOW_MS, mostSlowLooks: 1, mostKnown };
  const beside = database.patient.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      ms += server.roundTripMs;
      if (server.isAway) {
        ms += 25_000;
        throw new Error('the server does not answer');
      }
      if (server.isFailing && result.rows.some((row) => 'later' in row)) {
        throw new Error('canceling statement due to statement timeout');
      }
      return result;
    },
  });
  const looks = new DueLooks(
    beside,
    (error) => failures.push(error),
    limits,
    () => {
      ms += server.tookMs;
      return ms;
    },
    async () => {
      ms += server.roundTripMs - server.tookMs;
    },
  );
  /** Does not wait for the complete look that the claim may begin. */
  const find = async () =>
    (await looks.round(database.reader, '', clock.now(), 64)).map(({ id }) => id as string);
  const pass = (passedMs = 20_000) => {
    ms += passedMs;
  };
  return {
    ...{ rig, looks, beside, failures, server, find, pass },
    /** Lets a claim begin a complete look, and waits for its end. */
    complete: async () => {
      pass();
      await find();
      await looks.settled();
    },
    /** The later attempts of the subscription that a claim would begin. */
    dueLater: (id: SubscriptionId) =>
      database.write((writer) => claiming(writer, clock.now(), looks).dueLater(id, 64)),
  };
}

/** Pages of deliveries and their indexes that this transaction has asked for. */
async function pagesRead(writer: Writer): Promise<number> {
  const { rows } = await sql<{ count: unknown }>`
    select sum(pg_stat_get_xact_blocks_fetched(oid)) as count from pg_class
    where relname = 'deliveries' or relname like 'deliveries\\_%' and relkind = 'i'
  `.execute(writer);
  return Number(rows[0]?.count);
}

/** Pages read by the searches of a claim, which finds due deliveries of so many subscriptions. */
function pagesOfClaim(
  { database, clock, subscriptions }: Awaited<ReturnType<typeof deadRowsRig>>,
  looks: DueLooks,
  dueSubscriptions = subscriptions.length,
): Promise<number> {
  return database.write(async (writer) => {
    const changes = claiming(writer, clock.now(), looks);
    const before = await pagesRead(writer);
    const due = await changes.dueSubscriptions('', 64);
    for (const { id } of due) {
      await changes.dueFirst([{ id, after: 0, limit: 64 }]);
    }
    expect(due).toHaveLength(dueSubscriptions);
    return (await pagesRead(writer)) - before;
  });
}

test('beside a long snapshot, the cost of a claim does not grow with the deliveries since its start', async () => {
  const { rig, looks, complete } = await slowLooks();
  const release = await rig.openSnapshot();
  const costOfClaim = () => pagesOfClaim(rig, looks);
  await rig.deliver(12_000);
  await rig.insert(64);
  const grown = await costOfClaim();
  await complete();
  const bounded = await costOfClaim();
  expect(3 * bounded).toBeLessThan(grown);
  await release();
});

test('nor does it grow until the next complete look', async () => {
  const { rig, looks, find, complete } = await slowLooks();
  const release = await rig.openSnapshot();
  await find();
  await complete();
  await rig.deliver(12_000);
  await rig.insert(64);
  const grown = await pagesOfClaim(rig, looks);
  const bounded = await pagesOfClaim(rig, looks);
  expect(3 * bounded).toBeLessThan(grown);
  await release();
});

test('nor does it grow while complete looks fail', async () => {
  const { rig, looks, find, complete, server } = await slowLooks();
  const release = await rig.openSnapshot();
  await find();
  await complete();
  server.isFailing = true;
  await rig.deliver(12_000);
  const grown = await pagesOfClaim(rig, looks, 0);
  await complete();
  const bounded = await pagesOfClaim(rig, looks, 0);
  expect(3 * bounded).toBeLessThan(grown);
  await release();
});

test.each([
  ['at once if it is a few places behind', 10, true],
  ['by the next complete look', 2_000, false],
])('a delivery that is committed behind later ones is found %s', async (_, behind, isFoundAtOnce) => {
  const { rig, looks, find, complete } = await slowLooks();
  const claim = (id: SubscriptionId) =>
    rig.database.write(async (writer) => {
      const found = await claiming(writer, rig.clock.now(), looks).dueFirst([{ id, after: 0, limit: 64 }]);
      return found.get(id);
    });
  await find();
  const [id] = rig.subscriptions as [SubscriptionId];
  let late: number | undefined;
  await lateBy(rig.database, id, async (seq) => {
    late = seq;
    await rig.deliver(behind);
    await complete();
    expect(await find()).toEqual([]);
  });
  expect(await find()).toEqual(isFoundAtOnce ? [id] : []);
  expect(await claim(id)).toEqual(isFoundAtOnce ? [late] : []);
  await complete();
  expect(await find()).toEqual([id]);
  expect(await claim(id)).toEqual([late]);
});

test('a later attempt that became due is found by the next complete look', async () => {
  const { rig, looks, find, complete, dueLater } = await slowLooks();
  await find();
  await complete();
  const { seq, id } = await retriedLater(rig);
  expect(await find()).toEqual([]);
  await complete();
  expect(await looks.round(rig.database.reader, '', rig.clock.now(), 64)).toEqual([{ id, hasLater: true }]);
  expect(await dueLater(id)).toEqual([seq]);
});

test('nothing is claimed for a later attempt that is no longer due', async () => {
  const { rig, find, complete, dueLater } = await slowLooks();
  await find();
  const { seq, id } = await retriedLater(rig);
  await complete();
  expect(await dueLater(id)).toEqual([seq]);
  expect(await find()).toEqual([id]);
  await rig.claim();
  expect(await dueLater(id)).toEqual([]);
  expect(await find()).toEqual([]);
});

test('a later attempt that a look found before it was due is found when it is', async () => {
  const { rig, looks, find, pass, dueLater } = await slowLooks();
  await find();
  await find();
  await looks.settled();
  const { seq, id } = await retriedLater(rig, 29_500);
  pass();
  await looks.any(rig.database.reader, rig.clock.now() + 1_000);
  await looks.settled();
  expect(await dueLater(id)).toEqual([]);
  rig.clock.advance(500);
  expect(await find()).toEqual([id]);
  expect(await dueLater(id)).toEqual([seq]);
});

test('after an outage of the server, a complete look does not wait as if it had been slow', async () => {
  const { rig, looks, find, pass, complete, failures, server } = await slowLooks();
  await find();
  server.isAway = true;
  await complete();
  expect(failures).toHaveLength(1);
  server.isAway = false;
  await rig.insert(rig.subscriptions.length);
  pass(1_000);
  await find();
  await looks.settled();
  expect(await find()).toHaveLength(rig.subscriptions.length);
});

test('looks of a server that is far away are not slow because of that', async () => {
  const rig = await deadRowsRig(under, NEVER_SLOW);
  let ms = 0;
  const far = (db: Writer) =>
    db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        ms += 3 * SLOW_MS;
        return result;
      },
    });
  const limits = { ...NEVER_SLOW, slowMs: SLOW_MS, mostSlowLooks: 1 };
  const looks = new DueLooks(far(rig.database.reader), undefined, limits, () => ms);
  const find = () => looks.round(far(rig.database.reader), '', rig.clock.now(), 64);
  await find();
  await find();
  await looks.settled();
  await retriedLater(rig);
  expect(await find()).toHaveLength(1);
});

test.each(['SQLite', 'PostgreSQL'] as const)(
  'a look begins behind the named subscription and goes on from the first: %s',
  async (kind) => {
    const rig = await sendingRig(databases[kind]);
    const subscribed = [await rig.subscribe(), await rig.subscribe(), await rig.subscribe()].sort();
    const [first, second, third] = subscribed as [SubscriptionId, SubscriptionId, SubscriptionId];
    await rig.happen();
    const looks = new DueLooks(rig.database.patient, undefined, NEVER_SLOW);
    const find = async (after: string, limit: number) =>
      (await looks.round(rig.database.reader, after, rig.clock.now(), limit)).map(({ id }) => id);
    expect(await find('', 3)).toEqual([first, second, third]);
    expect(await find(first, 3)).toEqual([second, third, first]);
    expect(await find(second, 2)).toEqual([third, first]);
    expect(await find(third, 64)).toEqual([first, second, third]);
  },
);

test('what the last look in a claim found is found until the first complete look has ended', async () => {
  const { rig, find } = await slowLooks();
  await rig.insert(rig.subscriptions.length);
  await find();
  expect(await find()).toHaveLength(rig.subscriptions.length);
});

test('looks are complete again once they are quick', async () => {
  const { rig, find, complete, server } = await slowLooks();
  await find();
  await complete();
  server.tookMs = 0;
  await complete();
  await rig.insert(rig.subscriptions.length);
  expect(await find()).toHaveLength(rig.subscriptions.length);
});

test('when looks are slow again, a complete look follows at once', async () => {
  const { rig, looks, beside, complete, server } = await slowLooks();
  const find = () => looks.round(beside, '', rig.clock.now(), 64);
  server.roundTripMs = 100;
  await find();
  server.tookMs = 0;
  await complete();
  server.tookMs = SLOW_LOOK_MS;
  await find();
  await rig.insert(rig.subscriptions.length);
  await find();
  await looks.settled();
  expect(await find()).toHaveLength(rig.subscriptions.length);
});

test('while complete looks fail, claims go on with first attempts that come', async () => {
  const { rig, find, complete, failures, server } = await slowLooks();
  await rig.insert(1);
  await find();
  server.isFailing = true;
  await complete();
  expect(failures).toHaveLength(1);
  await rig.insert(rig.subscriptions.length);
  expect(await find()).toHaveLength(rig.subscriptions.length);
  await complete();
  expect(failures).toHaveLength(2);
  expect(await find()).toHaveLength(rig.subscriptions.length);
});

test('more due subscriptions than a look may find take turns', async () => {
  const { rig, find, complete } = await slowLooks(2);
  await rig.insert(rig.subscriptions.length);
  const all = [...rig.subscriptions].sort();
  await find();
  await complete();
  expect(await find()).toEqual(all.slice(0, 2));
  await complete();
  expect(await find()).toEqual(all.slice(2));
  await complete();
  expect(await find()).toContain(all[0]);
});

test('a look of a claim that ends after a complete look adds no subscriptions to its result', async () => {
  const { rig, looks, find, complete } = await slowLooks(2);
  await rig.insert(rig.subscriptions.length);
  await find();
  const held = rig.database.reader.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      await complete();
      return result;
    },
  });
  await looks.round(held, '', rig.clock.now(), 64);
  expect(await find()).toHaveLength(2);
});

/** Makes a delivery that failed `afterMs` ago. Its second attempt is due 30 s after the failure. */
async function retriedLater(rig: Awaited<ReturnType<typeof deadRowsRig>>, afterMs = 60_000) {
  await rig.insert(1);
  const [begun] = (await rig.claim()).deliveries;
  await rig.record(refused(begun?.id as DeliveryId));
  rig.clock.advance(afterMs);
  const { seq, subscription_id: id } = await rig.delivery(begun?.id as string);
  return { seq, id: id as SubscriptionId };
}

/** Inserts a delivery and commits it after the work. */
async function lateBy(
  database: Database,
  subscriptionId: SubscriptionId,
  work: (seq: number) => Promise<void>,
): Promise<void> {
  await database.write(async (writer) => {
    const { seq: _, ...like } = await writer
      .selectFrom('deliveries')
      .orderBy('seq')
      .limit(1)
      .selectAll()
      .executeTakeFirstOrThrow();
    const row = { ...like, id: 'whd_late', subscription_id: subscriptionId, ended_at: null };
    const { seq } = await writer
      .insertInto('deliveries')
      .values({ ...row, status: 'PENDING', attempts_begun: 0 })
      .returning('seq')
      .executeTakeFirstOrThrow();
    await work(seq);
  });
}

test('a complete look may take longer than other statements', async () => {
  const place = await under.newPlace();
  const server = { ...SERVED_LIMITS.server, statementMs: 1_100 };
  const database = await under.open(place, { ...PATIENT, server, answerMs: 1_200 });
  const failures: unknown[] = [];
  const { rows } = sendingUnitOfWork(database, (error) => failures.push(error));
  const holder = new pg.Client({ connectionString: place.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query('lock table deliveries');
  const worksFor = async (milliseconds: number) => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and state = 'active' and backend_type = 'client backend'
        and pid <> pg_backend_pid()
        and now() - query_start >= ${milliseconds} * interval '1 ms'
    `.execute(database.prober);
    return rows.length > 0;
  };
  // The first is far too slow for claims; then a look runs beside them.
  for (const _ of [1, 2]) {
    await expect(rows.anyDue(1)).rejects.toMatchObject({ internal: expect.stringMatching(/timeout/) });
  }
  await eventually('the look has waited for longer', () => worksFor(4_000));
  await holder.end();
  await eventually('the look has ended', async () => !(await worksFor(0)));
  expect(failures).toEqual([]);
});
