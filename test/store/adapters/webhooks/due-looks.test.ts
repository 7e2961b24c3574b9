import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { DeliveryId, SubscriptionId } from '../../../../generated/ids.js';
import { claiming } from '../../../../src/store/adapters/webhooks/sending/claims.js';
import { DueLooks } from '../../../../src/store/adapters/webhooks/sending/due-looks.js';
import type { Database, Writer } from '../../../../src/store/database.js';
import { deadRowsRig } from '../../../chaos/webhooks/dead-rows.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { refused } from './sending/rig.js';

const under = databaseUnderTest('PostgreSQL');
const SLOW_MS = 10;

/** Looks that all seem slow, on a clock that passes only as each look takes it. */
function slowLooks() {
  let ms = 0;
  const looks = new DueLooks(SLOW_MS, 1, () => {
    ms += 2 * SLOW_MS;
    return ms;
  });
  return {
    looks,
    pass: () => {
      ms += 1_000;
    },
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

test('beside a long snapshot, the cost of a claim does not grow with the deliveries since its start', async () => {
  const rig = await deadRowsRig(under);
  const release = await rig.holdSnapshot();
  const { looks } = slowLooks();
  const find = () => looks.round(rig.database.reader, '', rig.clock.now(), 64);
  const costOfClaim = () =>
    rig.database.write(async (writer) => {
      const changes = claiming(writer, rig.clock.now(), looks);
      const before = await pagesRead(writer);
      const due = await changes.dueSubscriptions('', 64);
      for (const { id } of due) {
        await changes.dueFirst(id, 0, 64);
      }
      expect(due).toHaveLength(rig.subscriptions.length);
      return (await pagesRead(writer)) - before;
    });
  await rig.deliver(12_000);
  await rig.insert(64);
  await find();
  const grown = await costOfClaim();
  const bounded = await costOfClaim();
  expect(3 * bounded).toBeLessThan(grown);
  await release();
});

test.each([
  ['at once if it is a few places behind', 10, true],
  ['by the next complete look', 2_000, false],
])('a delivery that is committed behind later ones is found %s', async (_, behind, isFoundAtOnce) => {
  const rig = await deadRowsRig(under);
  const { looks, pass } = slowLooks();
  const find = async () =>
    (await looks.round(rig.database.reader, '', rig.clock.now(), 64)).map(({ id }) => id);
  const claim = (id: SubscriptionId) =>
    rig.database.write(async (writer) => claiming(writer, rig.clock.now(), looks).dueFirst(id, 0, 64));
  await find();
  const [id] = rig.subscriptions as [SubscriptionId];
  let late: number | undefined;
  await lateBy(rig.database, id, async (seq) => {
    late = seq;
    await rig.deliver(behind);
    expect(await find()).toEqual([]);
  });
  expect(await find()).toEqual(isFoundAtOnce ? [id] : []);
  expect(await claim(id)).toEqual(isFoundAtOnce ? [late] : []);
  pass();
  expect(await find()).toEqual([id]);
  expect(await claim(id)).toEqual([late]);
});

test('a later attempt that became due is found by the next complete look', async () => {
  const rig = await deadRowsRig(under);
  const { looks, pass } = slowLooks();
  const find = () => looks.round(rig.database.reader, '', rig.clock.now(), 64);
  await find();
  await rig.insert(1);
  const [begun] = (await rig.claim()).deliveries;
  await rig.record(refused(begun?.id as DeliveryId));
  const { seq, subscription_id: id } = await rig.delivery(begun?.id as string);
  expect(await find()).toEqual([]);
  rig.clock.advance(60_000);
  expect(await find()).toEqual([]);
  pass();
  expect(await find()).toEqual([{ id, hasLater: true }]);
  const claimed = rig.database.write((writer) =>
    claiming(writer, rig.clock.now(), looks).dueLater(id as SubscriptionId, 64),
  );
  expect(await claimed).toEqual([seq]);
});

test('looks are complete again once they are quick', async () => {
  const rig = await deadRowsRig(under);
  let ms = 0;
  let tookMs = 2 * SLOW_MS;
  const looks = new DueLooks(SLOW_MS, 1, () => {
    ms += tookMs;
    return ms;
  });
  const find = () => looks.round(rig.database.reader, '', rig.clock.now(), 64);
  await find();
  await find();
  tookMs = 0;
  ms += 1_000;
  await find();
  await rig.insert(rig.subscriptions.length);
  expect(await find()).toHaveLength(rig.subscriptions.length);
});

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
