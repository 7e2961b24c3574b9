import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeCursor,
  encodeCursor,
  FIRST_PAGE_BYTES,
  PAGE_BYTES,
  PAGE_ROWS,
  type Page,
  type PageRequest,
  type Position,
  pagesOf,
  type Window,
} from '../../../src/domain/directory/page.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';

const position = fc.record({
  createdAt: fc.nat(Number.MAX_SAFE_INTEGER),
  id: fc.stringMatching(/^[a-z]{3}_[0-9A-Za-z]{22}$/),
});

describe('a cursor', () => {
  test('gives its position back', () => {
    fc.assert(
      fc.property(position, (at) => {
        const cursor = encodeCursor(at);
        expect(decodeCursor(cursor)).toEqual(at);
        expect(cursor).toMatch(/^[\w-]{1,512}$/);
      }),
    );
  });

  test('whatever it is, is a position of plain parts or a refusal that names it', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      fc.string({ unit: 'binary' }).map((inner) => Buffer.from(inner).toString('base64url')),
      position.map((at) => encodeCursor(at).slice(0, -1)),
    );
    fc.assert(
      fc.property(text, (cursor) => {
        const outcome = attempt(() => decodeCursor(cursor));
        if (outcome instanceof ServiceError) {
          expect(outcome.code).toBe(ErrorCode.INVALID_REQUEST);
          expect(outcome.fieldViolations).toMatchObject([{ path: 'query.cursor' }]);
        } else {
          const { createdAt, id } = outcome as Position;
          expect(Number.isInteger(createdAt) && createdAt >= 0).toBe(true);
          expect(id).toMatch(/^\w{1,64}$/);
        }
      }),
    );
  });

  test.each([
    ['nothing', ''],
    ['no id', '123.'],
    ['no time', '.usr_1'],
    ['a time before 1970', '-1.usr_1'],
    ['a time that is none', '1e3.usr_1'],
    ['a time beyond any', `${'9'.repeat(17)}.usr_1`],
    ['an id beyond any', `1.${'a'.repeat(65)}`],
    ['a quote', "1.usr_1' or 1=1"],
    ['a NUL', '1.usr\0'],
    ['a line break behind it', '1.usr_1\n'],
    ['another part', '1.usr_1.2'],
    ['digits of another script', '१.usr_1'],
  ])('that holds %s is refused', (_, inner) => {
    expect(attempt(() => decodeCursor(Buffer.from(inner).toString('base64url')))).toBeInstanceOf(
      ServiceError,
    );
  });
});

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

const LIST = 'listUsers.cli_1';

type Row = Position & { json: string };

/** Some fit many times into a page, some are larger than one. */
const SIZES = [10, FIRST_PAGE_BYTES / 3, FIRST_PAGE_BYTES + 1, PAGE_BYTES / 2, PAGE_BYTES + 1].map((size) =>
  'x'.repeat(size),
);

/** A table in the order of the lists, which remembers what it was asked. */
function tableOf(rows: readonly Row[]) {
  const sorted = [...rows].sort(byAge);
  const asked: PageRequest[] = [];
  const fetch = async (page: PageRequest) => {
    asked.push(page);
    const { after } = page;
    return sorted.filter((row) => after === undefined || byAge(row, after) > 0).slice(0, page.limit);
  };
  return { sorted, asked, fetch };
}

function byAge(one: Position, other: Position): number {
  return one.createdAt - other.createdAt || (one.id < other.id ? -1 : Number(one.id > other.id));
}

const rowsOf = (count: number, json = '{}'): Row[] =>
  Array.from({ length: count }, (_, index) => ({
    createdAt: Math.floor(index / 3),
    id: `id_${index}`,
    json,
  }));

async function read(fetch: (page: PageRequest) => Promise<Row[]>, window: Window) {
  const pages: Page<Row>[] = [];
  for await (const page of pagesOf(LIST, fetch, window)) {
    pages.push(page);
  }
  return { pages, rows: pages.flatMap((page) => page.rows), nextCursor: pages.at(-1)?.nextCursor };
}

describe('a list in pages', () => {
  /** Few moments, so that many rows share one. */
  const table = fc.uniqueArray(
    fc.record({
      createdAt: fc.nat(5),
      id: fc.stringMatching(/^[0-9A-Za-z]{1,4}$/),
      json: fc.constantFrom(...SIZES),
    }),
    { selector: ({ id }) => id, maxLength: 60 },
  );

  test('followed by its cursors gives each row once, in order, whatever the limit', async () => {
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 20 }), async (rows, limit) => {
        const { sorted, fetch } = tableOf(rows);
        const seen: Position[] = [];
        let cursor: string | undefined;
        do {
          const page = await read(fetch, cursor === undefined ? { limit } : { limit, cursor });
          expect(page.rows.length).toBe(Math.min(limit, sorted.length - seen.length));
          seen.push(...page.rows);
          cursor = page.nextCursor;
        } while (cursor !== undefined);
        expect(seen).toEqual(sorted);
      }),
    );
  });

  test('read on from a cursor without a limit gives all the rest', async () => {
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 20 }), async (rows, limit) => {
        const { sorted, fetch } = tableOf(rows);
        const { nextCursor: cursor } = await read(fetch, { limit });
        fc.pre(cursor !== undefined);
        expect((await read(fetch, { cursor: cursor as string })).rows).toEqual(sorted.slice(limit));
      }),
    );
  });

  test.each([0, 1, PAGE_ROWS - 1, PAGE_ROWS, PAGE_ROWS + 1, 2 * PAGE_ROWS, 2 * PAGE_ROWS + 1])(
    'of %i rows is whole without a limit, in messages of bounded size, and has no cursor',
    async (count) => {
      const { sorted, asked, fetch } = tableOf(rowsOf(count));
      const { pages, rows, nextCursor } = await read(fetch, {});
      expect([rows, nextCursor]).toEqual([sorted, undefined]);
      expect(Math.max(...pages.map((page) => page.rows.length))).toBeLessThanOrEqual(PAGE_ROWS);
      // The first message goes out even when empty: it carries the header.
      expect(pages).toHaveLength(Math.max(1, Math.ceil(count / PAGE_ROWS)));
      expect(asked).toHaveLength(pages.length);
    },
  );

  test.each([
    { count: 3, limit: 3, more: false },
    { count: 4, limit: 3, more: true },
    { count: 2 * PAGE_ROWS, limit: 2 * PAGE_ROWS, more: false },
    { count: 1_001, limit: 1_000, more: true },
    { count: 300, limit: 299, more: true },
  ])(
    'of $count rows with a limit of $limit says whether there is more: $more',
    async ({ count, limit, more }) => {
      const { fetch } = tableOf(rowsOf(count));
      const { pages, rows, nextCursor } = await read(fetch, { limit });
      expect([rows.length, nextCursor !== undefined]).toEqual([limit, more]);
      const parts = await Promise.all(
        pages.slice(0, -1).map((page) => read(fetch, { cursor: String(page.nextCursor) })),
      );
      expect(parts.map((part) => part.rows.length)).toEqual(
        pages
          .slice(0, -1)
          .map((_, index) => count - pages.slice(0, index + 1).flatMap((page) => page.rows).length),
      );
    },
  );

  test('has smaller pages in its rest while it can wait', async () => {
    const { sorted, fetch } = tableOf(rowsOf(3 * PAGE_ROWS));
    const pages: Position[][] = [];
    for await (const { rows } of pagesOf(LIST, fetch, { isRest: true }, () => pages.length < 3)) {
      pages.push(rows);
    }
    expect(pages.map((rows) => rows.length)).toEqual([100, 100, 100, PAGE_ROWS, PAGE_ROWS - 50]);
    expect(pages.flat()).toEqual(sorted);
  });

  test.each([
    { title: 'at its beginning', window: {}, most: FIRST_PAGE_BYTES },
    { title: 'in its rest', window: { isRest: true }, most: PAGE_BYTES },
  ])('has pages of bounded bytes, $title, and at least a row in each', async ({ window, most }) => {
    await fc.assert(
      fc.asyncProperty(table, async (rows) => {
        const { sorted, fetch } = tableOf(rows);
        const { pages, rows: seen } = await read(fetch, window);
        expect(seen).toEqual(sorted);
        for (const { rows: some } of pages) {
          const bytes = some.reduce((sum, { json }) => sum + json.length + 1, 0);
          expect(bytes <= most || some.length === 1).toBe(true);
          expect(some.length > 0 || pages.length === 1).toBe(true);
        }
      }),
    );
  });

  test('of large rows is not fetched again and again', async () => {
    const { asked, fetch } = tableOf(rowsOf(100, 'x'.repeat(PAGE_BYTES / 10)));
    const { pages } = await read(fetch, { isRest: true });
    const fetched = asked.reduce((sum, { limit }) => sum + limit, 0);
    expect([pages.length, fetched]).toEqual([12, expect.any(Number)]);
    expect(fetched).toBeLessThan(2 * 250);
  });

  test('is fetched no further than it is read', async () => {
    const { asked, fetch } = tableOf(rowsOf(10 * PAGE_ROWS));
    const pages = pagesOf(LIST, fetch, {});
    expect(asked).toHaveLength(0);
    await pages.next();
    await pages.next();
    expect(asked).toHaveLength(2);
  });

  test('rows that come and go between two pages move no other', async () => {
    const { sorted, fetch } = tableOf(rowsOf(10));
    const { nextCursor } = await read(fetch, { limit: 4 });
    const changed = tableOf([
      ...sorted.slice(0, 2),
      ...sorted.slice(5),
      { createdAt: 0, id: 'id_0new', json: '{}' },
    ]);
    const { rows } = await read(changed.fetch, { limit: 4, cursor: nextCursor as string });
    expect(rows).toEqual(sorted.slice(5, 9));
  });

  test('refuses the cursor of another list, and accepts one of release 1.3.1, which names none', async () => {
    const { sorted, fetch } = tableOf(rowsOf(4));
    const { nextCursor: cursor = '' } = await read(fetch, { limit: 1 });
    const first = sorted[0] as Row;
    expect(cursor).toBe(`${LIST}.${encodeCursor(first)}`);
    expect(cursor).toMatch(/^[\w.-]{1,512}$/);
    expect((await read(fetch, { cursor })).rows).toEqual(sorted.slice(1));
    expect((await read(fetch, { cursor: encodeCursor(first) })).rows).toEqual(sorted.slice(1));
    for (const list of ['listUsers', 'listUsers.cli_2', 'listWorkersV2.cli_1', 'cli_1', '']) {
      const foreign = pagesOf(LIST, fetch, { cursor: `${list}.${encodeCursor(first)}` });
      await expect(foreign.next()).rejects.toMatchObject({
        code: ErrorCode.INVALID_REQUEST,
        fieldViolations: [{ path: 'query.cursor' }],
      });
    }
  });
});
