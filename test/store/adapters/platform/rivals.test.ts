import { describe, expect, test } from '@jest/globals';
import { getUser } from '../../../../src/domain/platform/people/users.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { type DatabasePlace, type DatabaseUnderTest, databaseUnderTest } from '../../../support/databases.js';
import { platformWrites } from '../../../support/platform-writes.js';
import { runScript } from '../../../support/run-script.js';
import { invitedAlone } from './people.js';
import { type Rivalry, writeAsRival } from './rivals.js';

const CHILD = 'test/store/adapters/platform/rival.child.ts';
const WRITES_OF_EACH = 200;
const COUNTS_OF_EACH = 100;
const TIMEOUT_MS = 300_000;

/** Two processes, as SQLite allows; with PostgreSQL two pools, which share as little. */
async function bothWrite(
  { kind, open }: DatabaseUnderTest,
  place: DatabasePlace,
  userId: string,
  rivalries: readonly [Rivalry, Rivalry],
  times: number,
): Promise<void> {
  if (kind === 'PostgreSQL') {
    const pools = await Promise.all(rivalries.map(() => open(place)));
    await Promise.all(
      pools.map((pool, index) =>
        writeAsRival(platformUnitOfWork(pool), userId, rivalries[index] as Rivalry, times),
      ),
    );
    return;
  }
  const names = ['one', 'two'];
  const printed = await Promise.all(
    rivalries.map((rivalry, index) =>
      runScript(CHILD, [
        place.dataDir,
        names[index] as string,
        names[1 - index] as string,
        userId,
        rivalry,
        `${times}`,
      ]),
    ),
  );
  expect(printed).toEqual(['all acknowledged', 'all acknowledged']);
}

/** The pairs of names that events report, in the order of writing, which is that of `sequence`. */
async function toldPairs(under: DatabaseUnderTest, place: DatabasePlace): Promise<[number, number][]> {
  const events = await platformWrites(await under.open(place)).newEvents();
  const told = events
    .filter(({ type }) => type === 'user.updated')
    .map(({ data, sequence }) => ({ pair: pairIn(data), sequence }))
    .sort((one, other) => sumOf(one.pair) - sumOf(other.pair));
  const sequences = told.map(({ sequence }) => sequence);
  expect(sequences).toEqual([...new Set(sequences)].sort((one, other) => one - other));
  return told.map(({ pair }) => pair);
}

function pairIn({ firstName, lastName }: { firstName: unknown; lastName: unknown }): [number, number] {
  return [Number(firstName), Number(lastName)];
}

function sumOf([one, other]: [number, number]): number {
  return one + other;
}

describe.each(['SQLite', 'PostgreSQL'] as const)('two who write the same user at once, on %s,', (kind) => {
  const under = databaseUnderTest(kind);

  test(
    `${WRITES_OF_EACH} times each, lose no update, and every event has its change and every change its event`,
    async () => {
      const place = await under.newPlace();
      const user = await invitedAlone(await under.openMigrated(place), { firstName: '0', lastName: '0' });
      await bothWrite(under, place, user.id, ['firstName', 'lastName'], WRITES_OF_EACH);

      const { run } = platformWrites(await under.open(place));
      const last = `${WRITES_OF_EACH}`;
      const written = await run((changes) => getUser(changes, user.id));
      expect(written).toMatchObject({ firstName: last, lastName: last, fullName: `${last} ${last}` });
      const pairs = await toldPairs(under, place);
      expect(pairs).toHaveLength(2 * WRITES_OF_EACH);
      // Each event is one step from the one before: all changes have events, and no name goes back.
      let [first, second] = [0, 0];
      const steps: string[] = [];
      for (const pair of pairs) {
        const isFirst = pair[0] > first;
        [first, second] = isFirst ? [first + 1, second] : [first, second + 1];
        expect(pair).toEqual([first, second]);
        steps.push(isFirst ? 'first' : 'second');
      }
      const turns = steps.filter((step, index) => step !== steps[index + 1]).length;
      expect(turns).toBeGreaterThan(WRITES_OF_EACH / 30);
    },
    TIMEOUT_MS,
  );

  test(
    'deciding on what they read, count every number once',
    async () => {
      const place = await under.newPlace();
      const user = await invitedAlone(await under.openMigrated(place), { firstName: '0' });
      await bothWrite(under, place, user.id, ['count', 'count'], COUNTS_OF_EACH);

      const { run } = platformWrites(await under.open(place));
      expect((await run((changes) => getUser(changes, user.id))).firstName).toBe(`${2 * COUNTS_OF_EACH}`);
      const counted = (await toldPairs(under, place)).map(([number]) => number);
      expect(counted).toEqual(Array.from({ length: 2 * COUNTS_OF_EACH }, (_, index) => index + 1));
    },
    TIMEOUT_MS,
  );
});
