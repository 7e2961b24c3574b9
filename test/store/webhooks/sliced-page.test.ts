import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Position } from '../../../src/domain/directory/page.js';
import type { LogPage } from '../../../src/domain/webhooks/log-page.js';
import {
  mergedPages,
  type SlicedList,
  slicedPage,
} from '../../../src/store/adapters/webhooks/sliced-page.js';

interface Row {
  id: string;
}

const positionOf = ({ id }: Row): Position => ({ createdAt: 0, id });

const idOf = (number: number) => String(number).padStart(7, '0');

/** Of the numbers below `size`, the largest first, those that match. */
function listOf(size: number, matches: (number: number) => boolean) {
  const asked = { largestSpan: 0, reads: 0 };
  const below = (after: Position | undefined) => (after ? Number(after.id) : size);
  const list: SlicedList<Row> = {
    ahead: async (after, rows) => {
      const number = below(after) - rows;
      return number < 0 ? undefined : { createdAt: 0, id: idOf(number) };
    },
    matches: async (after, upTo, limit) => {
      const [from, to] = [below(after), upTo ? Number(upTo.id) : 0];
      asked.largestSpan = Math.max(asked.largestSpan, from - to);
      asked.reads += 1;
      const found: Row[] = [];
      for (let number = from - 1; number >= to && found.length < limit; number -= 1) {
        if (matches(number)) {
          found.push({ id: idOf(number) });
        }
      }
      return found;
    },
  };
  return { list, asked };
}

async function allPages(fetch: (after: Position | undefined) => Promise<LogPage<Row>>, limit: number) {
  const ids: string[] = [];
  let after: Position | undefined;
  do {
    const page = await fetch(after);
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    ids.push(...page.rows.map(({ id }) => id));
    after = page.next;
  } while (after);
  return ids;
}

const expected = (size: number, matches: (number: number) => boolean) =>
  Array.from({ length: size }, (_, index) => size - 1 - index)
    .filter(matches)
    .map(idOf);

describe('a page of a filtered log', () => {
  test('after page shows every match once and in order, whatever the filter leaves', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 9_000 }),
        fc.integer({ min: 1, max: 3_000 }),
        fc.integer({ min: 1, max: 60 }),
        async (size, everyNth, limit) => {
          const matches = (number: number) => number % everyNth === 0;
          const { list, asked } = listOf(size, matches);
          const found = await allPages((after) => slicedPage(list, { after, limit }, positionOf), limit);
          expect(found).toEqual(expected(size, matches));
          expect(asked.largestSpan).toBeLessThan(4_000);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('lets others have their turn between one slice and the next', async () => {
    const { list } = listOf(9_000, () => false);
    let turns = 0;
    const count = () => {
      turns += 1;
      immediate = setImmediate(count);
    };
    let immediate = setImmediate(count);
    await slicedPage(list, { after: undefined, limit: 5 }, positionOf);
    clearImmediate(immediate);
    expect(turns).toBeGreaterThanOrEqual(3);
  });

  test('breaks off in a list without end in which nothing matches, and says where to go on', async () => {
    const size = 1_000_000;
    const { list, asked } = listOf(size, (number) => number === 3);
    const page = await slicedPage(list, { after: undefined, limit: 5 }, positionOf);
    expect(page).toEqual({ rows: [], next: { createdAt: 0, id: idOf(size - asked.reads * 2_000) } });
    expect(await allPages((after) => slicedPage(list, { after, limit: 5 }, positionOf), 5)).toEqual([
      idOf(3),
    ]);
  });
});

describe('pages that are merged', () => {
  test('show every row of all lists once and in order, wherever one of them broke off', async () => {
    const lists = fc.array(fc.array(fc.boolean(), { maxLength: 40 }), { minLength: 0, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(
        lists,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 7 }),
        async (all, limit, reach) => {
          // Row n of list m has a number of its own; a list that broke off looked at `reach` rows.
          const rowsOf = all.map((shown, list) =>
            shown.map((matches, index) => ({ id: idOf(index * all.length + list), matches })).reverse(),
          );
          const fetch = async (after: Position | undefined) => {
            const pages = rowsOf.map((rows) => {
              const left = rows.filter(({ id }) => after === undefined || id < after.id);
              const looked = left.slice(0, reach);
              const found = looked.filter(({ matches }) => matches).slice(0, limit);
              const last =
                found.length === limit ? found.at(-1) : left.length > reach ? looked.at(-1) : undefined;
              return { rows: found.map(({ id }) => ({ id })), next: last && positionOf(last) };
            });
            return mergedPages(pages, limit, positionOf);
          };
          const wanted = rowsOf
            .flat()
            .filter(({ matches }) => matches)
            .map(({ id }) => id);
          expect(await allPages(fetch, limit)).toEqual(wanted.sort().reverse());
        },
      ),
    );
  });
});
