import { expect, test } from '@jest/globals';
import { type ExpiringKind, purgeExpired, purgeLags } from '../../../src/domain/maintenance/purge.js';
import { purgeStore } from '../../../src/store/adapters/purge.js';
import { signOnUnitOfWork } from '../../../src/store/adapters/sign-on/unit-of-work.js';
import type { Database } from '../../../src/store/database.js';
import { fakeClock, oneClock } from '../../domain/clock.js';
import { describeEachDatabase } from '../../support/databases.js';
import { signalled } from '../../support/signalled.js';
import { CREATED_AT } from '../rows.js';
import { countRows, KINDS, type PurgedKind, plantRows } from './purge-kinds.js';
import { untilOneWaits } from './sign-on/rig.js';

const OVER_BEFORE = CREATED_AT;
const INTERVAL_MS = 3_600_000;
/** Everything is removed as soon as it is over. */
const KEPT = { credentialsMs: 0, sessionIdleMs: 0, idempotencyMs: 0, auditMs: 0, eventsMs: 0 };
const ALL_ENDS = Object.fromEntries(KINDS.map(({ kind }) => [kind, OVER_BEFORE])) as Record<
  ExpiringKind,
  number
>;

/** One that the kind's first end says is over. */
function over({ ends }: PurgedKind, count: number): Record<string, number>[] {
  return Array.from({ length: count }, () => ({ [ends[0] as string]: OVER_BEFORE - 1 }));
}

function remove(database: Database, { kind }: PurgedKind, limit: number): Promise<number> {
  return purgeStore(database).remove(kind, OVER_BEFORE, limit);
}

describeEachDatabase('purge', (under) => {
  test.each(KINDS)('of each $kind removes only rows that expired before the given time', async (kind) => {
    const database = await under.openMigrated();
    await plantRows(database, kind, [
      {},
      ...kind.ends.flatMap((end) => [
        { [end]: OVER_BEFORE - 1 },
        { [end]: OVER_BEFORE },
        { [end]: OVER_BEFORE + 1 },
      ]),
      Object.fromEntries(kind.ends.map((end) => [end, OVER_BEFORE - 1])),
    ]);

    await expect(remove(database, kind, 100)).resolves.toBe(kind.ends.length + 1);
    await expect(countRows(database, kind)).resolves.toBe(1 + 2 * kind.ends.length);
    await expect(remove(database, kind, 100)).resolves.toBe(0);
  });

  test('removes no more than a batch at a time, of whatever kind', async () => {
    const database = await under.openMigrated();
    for (const kind of KINDS) {
      await plantRows(database, kind, over(kind, 5));
      const removed: number[] = [];
      for (let batch = 0; batch < 4; batch += 1) {
        removed.push(await remove(database, kind, 2));
      }
      expect({ kind: kind.kind, removed }).toEqual({ kind: kind.kind, removed: [2, 2, 1, 0] });
    }
  });

  test('of one kind leaves the others alone', async () => {
    const database = await under.openMigrated();
    for (const kind of KINDS) {
      await plantRows(database, kind, over(kind, 1));
    }
    const removed: number[] = [];
    for (const kind of KINDS) {
      removed.push(await remove(database, kind, 10));
    }
    expect(removed).toEqual(KINDS.map(() => 1));
  });

  test.each(KINDS)('of each $kind raced by many neither fails nor removes twice', async (kind) => {
    const database = await under.openMigrated();
    await plantRows(database, kind, [...over(kind, 40), {}]);

    let removed = 0;
    while ((await countRows(database, kind)) > 1) {
      const batches = await Promise.all(Array.from({ length: 8 }, () => remove(database, kind, 3)));
      expect(Math.max(...batches)).toBeLessThanOrEqual(3);
      expect(Math.max(...batches)).toBeGreaterThan(0);
      removed += batches.reduce((sum, batch) => sum + batch, 0);
    }
    expect(removed).toBe(40);
  });

  test('leaves a count that begins a new window while the purge waits for it', async () => {
    const database = await under.openMigrated();
    const { run } = signOnUnitOfWork(database);
    await run(({ attempts }) => attempts.count('a', OVER_BEFORE - 10, 5));
    const [counted, goOn] = [signalled(), signalled()];
    const counting = run(async ({ attempts }) => {
      const counts = await attempts.count('a', OVER_BEFORE, 5);
      counted.tell();
      await goOn.told;
      return counts;
    });
    await counted.told;
    const removal = purgeStore(database).remove('attempt_count', OVER_BEFORE, 10);
    await untilOneWaits(database);
    goOn.tell();

    await expect(counting).resolves.toEqual({ count: 1, endsAt: OVER_BEFORE + 5 });
    await expect(removal).resolves.toBe(0);
    await expect(run(({ attempts }) => attempts.count('a', OVER_BEFORE, 5))).resolves.toMatchObject({
      count: 2,
    });
  });

  test('in pieces follows a backlog to its end, while other writes commit between and beside them', async () => {
    const database = await under.openMigrated();
    const backlog = KINDS.filter(({ kind }) =>
      ['session', 'event', 'delivery', 'audit_event'].includes(kind),
    );
    for (const kind of backlog) {
      await plantRows(database, kind, [...over(kind, 45), { [kind.ends[0] as string]: OVER_BEFORE }]);
    }
    const store = purgeStore(database);
    const { run: write } = signOnUnitOfWork(database);
    const written = (count: number) => write(({ attempts }) => attempts.count('a', OVER_BEFORE, count));
    let pieces = 0;
    for (let more = true; more; pieces += 1) {
      const [piece] = await Promise.all([
        purgeExpired(
          store,
          KEPT,
          oneClock(() => OVER_BEFORE),
          { limit: 20, run: 'run' },
        ),
        written(1e9),
      ]);
      expect(Object.values(piece.removed).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(20);
      more = piece.more;
    }
    expect(pieces).toBe((4 * 45) / 20 + 1);
    for (const kind of backlog) {
      await expect(countRows(database, kind)).resolves.toBe(1);
    }
    await expect(written(1e9)).resolves.toMatchObject({ count: pieces + 1 });
    expect(Math.max(...Object.values(await purgeLags(store, KEPT, () => OVER_BEFORE)))).toBe(0);
  });

  test.each(KINDS)('tells when the oldest $kind expired that may be removed', async (kind) => {
    const database = await under.openMigrated();
    const [end = ''] = kind.ends;
    const { oldest } = purgeStore(database);
    await plantRows(database, kind, [{}, { [end]: OVER_BEFORE }, { [end]: OVER_BEFORE + 1 }]);
    await expect(oldest(ALL_ENDS)).resolves.toEqual({});
    await expect(oldest({ ...ALL_ENDS, [kind.kind]: OVER_BEFORE + 2 })).resolves.toEqual({
      [kind.kind]: OVER_BEFORE,
    });
  });

  test('tells of the oldest delivery and event that nothing keeps', async () => {
    const database = await under.openMigrated();
    const [delivery, event] = ['delivery', 'event'].map((name) => KINDS.find(({ kind }) => kind === name));
    await plantRows(database, event as PurgedKind, [
      { seq: 1, occurred_at: OVER_BEFORE - 5 },
      { seq: 2, occurred_at: OVER_BEFORE - 4 },
    ]);
    await plantRows(database, delivery as PurgedKind, [
      { event_seq: 1, created_at: OVER_BEFORE - 5 },
      { event_seq: 1, created_at: OVER_BEFORE - 3 },
    ]);
    await database.write((writer) =>
      writer
        .updateTable('deliveries')
        .set({ status: 'PENDING' })
        .where('created_at', '=', OVER_BEFORE - 5)
        .execute(),
    );
    await expect(purgeStore(database).oldest(ALL_ENDS)).resolves.toEqual({
      delivery: OVER_BEFORE - 3,
      event: OVER_BEFORE - 4,
    });
  });

  test('lets one run at a time begin, and the next when that one has ended or its time is over', async () => {
    const store = purgeStore(await under.openMigrated());
    const runs = await Promise.all(['a', 'b', 'c', 'd'].map((run) => store.begin(run, 1_000, 2_000)));
    expect(runs.filter((isBegun) => isBegun)).toHaveLength(1);
    const [first, second] = runs[0] ? ['a', 'b'] : [['a', 'b', 'c', 'd'][runs.indexOf(true)] as string, 'a'];
    await expect(store.begin(first, 1_500, 2_500)).resolves.toBe(true);
    await expect(store.begin(second, 2_499, 3_499)).resolves.toBe(false);
    await expect(store.begin(second, 2_500, 3_500)).resolves.toBe(true);
    await store.end(first, 2_550);
    await expect(store.begin(first, 2_600, 3_600)).resolves.toBe(false);
    await store.end(second, 2_550);
    await expect(store.begin(first, 2_600, 3_600)).resolves.toBe(true);
  });

  test('by timers runs once an interval, whichever node asks, and after a run of the schedule too', async () => {
    const place = await under.newPlace();
    const database = await under.openMigrated(place);
    const another = under.kind === 'SQLite' ? database : await under.open(place);
    const clock = fakeClock();
    let runs = 0;
    const purge = (of: Database, unlessEndedWithinMs?: number) => {
      runs += 1;
      return purgeExpired(purgeStore(of), KEPT, oneClock(clock.now), {
        limit: 10,
        run: `${runs}`,
        unlessEndedWithinMs,
      });
    };
    const begunOfTen = async () => {
      const asked = Array.from({ length: 10 }, (_, call) =>
        purge(call % 2 ? database : another, INTERVAL_MS),
      );
      return (await Promise.all(asked)).filter(({ isLeftToOther }) => !isLeftToOther).length;
    };
    expect(await begunOfTen()).toBe(1);
    clock.advance(INTERVAL_MS - 1);
    expect(await begunOfTen()).toBe(0);
    clock.advance(1);
    expect(await begunOfTen()).toBe(1);
    clock.advance(INTERVAL_MS / 2);
    expect(await purge(database)).toMatchObject({ isLeftToOther: false });
    clock.advance(INTERVAL_MS / 2);
    expect(await begunOfTen()).toBe(0);
  });

  test('goes on after the clock was set back', async () => {
    const store = purgeStore(await under.openMigrated());
    await expect(store.begin('a', 1_000_000, 1_060_000)).resolves.toBe(true);
    await expect(store.begin('b', 5_000, 65_000)).resolves.toBe(true);
    await store.end('b', 1_000_000);
    await expect(store.begin('c', 6_000, 66_000, 5_000)).resolves.toBe(true);
  });
});
