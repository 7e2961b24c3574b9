import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LogPage, LogPosition } from '../../../../../src/domain/webhooks/logs/page.js';
import {
  mergedPages,
  pageOfLists,
  type SlicedList,
  slicedPage,
} from '../../../../../src/store/adapters/webhooks/logs/sliced-page.js';

interface Row {
  seq: number;
}

const positionOf = ({ seq }: Row): LogPosition => ({ createdAt: 0, seq });

/** Of the numbers below `size`, the largest first, those that match. */
function listOf(size: number, matches: (number: number) => boolean) {
  const asked = { largestSpan: 0, reads: 0 };
  const below = (after: LogPosition | undefined) => Math.min(size, after?.seq ?? size);
  const list: SlicedList<Row> = {
    ahead: async (after, rows) => {
      const seq = below(after) - rows;
      return seq < 0 ? undefined : { createdAt: 0, seq };
    },
    matches: async (after, upTo, limit) => {
      const [from, to] = [below(after), upTo ? upTo.seq : 0];
      asked.largestSpan = Math.max(asked.largestSpan, from - to);
      asked.reads += 1;
      const found: Row[] = [];
      for (let seq = from - 1; seq >= to && found.length < limit; seq -= 1) {
        if (matches(seq)) {
          found.push({ seq });
        }
      }
      return found;
    },
  };
  return { list, asked };
}

async function allPages(fetch: (after: LogPosition | undefined) => Promise<LogPage<Row>>, limit: number) {
  const seqs: number[] = [];
  let after: LogPosition | undefined;
  do {
    const page = await fetch(after);
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    seqs.push(...page.rows.map(({ seq }) => seq));
    after = page.next;
  } while (after);
  return seqs;
}

const expected = (size: number, matches: (number: number) => boolean) =>
  Array.from({ length: size }, (_, index) => size - 1 - index).filter(matches);

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

  test('breaks off in a list without end in which nothing matches, and says where to continue', async () => {
    const size = 1_000_000;
    const { list, asked } = listOf(size, (number) => number === 3);
    const page = await slicedPage(list, { after: undefined, limit: 5 }, positionOf);
    expect(page).toEqual({ rows: [], next: { createdAt: 0, seq: size - asked.reads * 2_000 } });
    expect(await allPages((after) => slicedPage(list, { after, limit: 5 }, positionOf), 5)).toEqual([3]);
  });
});

describe('a page of several lists', () => {
  test('looks at no more than one of a single list, and the pages show every match once', async () => {
    const sizes = [1_000_000, 900_000, 300_000];
    const all = sizes.map((size, index) => listOf(size, (number) => number % 70_000 === index));
    const lists = all.map(({ list }) => list);
    const readsOf = () => all.reduce((sum, { asked }) => sum + asked.reads, 0);
    const found = await allPages(async (after) => {
      const before = readsOf();
      const page = await pageOfLists(lists, { after, limit: 5 }, positionOf);
      expect(readsOf() - before).toBeLessThanOrEqual(200);
      return page;
    }, 5);
    const wanted = sizes.flatMap((size, index) => expected(size, (number) => number % 70_000 === index));
    expect(found).toEqual(wanted.sort((one, other) => other - one));
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
          // Row n of list m has a unique number; an interrupted list looked at `reach` rows.
          const rowsOf = all.map((shown, list) =>
            shown.map((matches, index) => ({ seq: index * all.length + list, matches })).reverse(),
          );
          const fetch = async (after: LogPosition | undefined) => {
            const pages = rowsOf.map((rows) => {
              const left = rows.filter(({ seq }) => after === undefined || seq < after.seq);
              const looked = left.slice(0, reach);
              const found = looked.filter(({ matches }) => matches).slice(0, limit);
              const last =
                found.length === limit ? found.at(-1) : left.length > reach ? looked.at(-1) : undefined;
              return { rows: found.map(({ seq }) => ({ seq })), next: last && positionOf(last) };
            });
            return mergedPages(pages, limit, positionOf);
          };
          const wanted = rowsOf
            .flat()
            .filter(({ matches }) => matches)
            .map(({ seq }) => seq);
          expect(await allPages(fetch, limit)).toEqual(wanted.sort((one, other) => other - one));
        },
      ),
    );
  });
});
