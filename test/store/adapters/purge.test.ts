import { expect, test } from '@jest/globals';
import { purgeStore } from '../../../src/store/adapters/purge.js';
import { signOnUnitOfWork } from '../../../src/store/adapters/sign-on/unit-of-work.js';
import type { Database } from '../../../src/store/database.js';
import { describeEachDatabase } from '../../support/databases.js';
import { CREATED_AT } from '../rows.js';
import { countRows, KINDS, type PurgedKind, plantRows } from './purge-kinds.js';
import { latch, untilOneWaits } from './sign-on/rig.js';

const OVER_BEFORE = CREATED_AT;

/** One that the kind's first end says is over. */
function over({ ends }: PurgedKind, count: number): Record<string, number>[] {
  return Array.from({ length: count }, () => ({ [ends[0] as string]: OVER_BEFORE - 1 }));
}

function remove(database: Database, { kind }: PurgedKind, limit: number): Promise<number> {
  return purgeStore(database).remove(kind, OVER_BEFORE, limit);
}

describeEachDatabase('purge', (under) => {
  test.each(KINDS)(
    'of each $kind removes what was over before the time given and nothing else',
    async (kind) => {
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
    },
  );

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
    const [counted, goOn] = [latch(), latch()];
    const counting = run(async ({ attempts }) => {
      const counts = await attempts.count('a', OVER_BEFORE, 5);
      counted.open();
      await goOn.opened;
      return counts;
    });
    await counted.opened;
    const removal = purgeStore(database).remove('attempt_count', OVER_BEFORE, 10);
    await untilOneWaits(database);
    goOn.open();

    await expect(counting).resolves.toEqual({ count: 1, endsAt: OVER_BEFORE + 5 });
    await expect(removal).resolves.toBe(0);
    await expect(run(({ attempts }) => attempts.count('a', OVER_BEFORE, 5))).resolves.toMatchObject({
      count: 2,
    });
  });
});
