import type { LogPage, LogPageRequest, LogPosition } from '../../../../domain/webhooks/logs/page.js';
import { byAge } from './conditions.js';

/** A list by age, newest first, of which a filter may leave little. */
export interface SlicedList<Row, Position = LogPosition> {
  /** The place of the row that is `rows` after the position; undefined if fewer are left. */
  ahead(after: Position | undefined, rows: number): Promise<Position | undefined>;
  /** The matching rows after one position and up to another, inclusive. */
  matches(after: Position | undefined, upTo: Position | undefined, limit: number): Promise<Row[]>;
}

/** Takes SQLite a millisecond or two, in which the event loop is blocked. */
const ROWS_PER_SLICE = 2_000;
/** PostgreSQL reads in another process, and each slice costs round trips: they grow tenfold up to this. */
const MOST_ROWS_PER_SLICE = 200_000;
/** A search for rare rows gets a shorter page, and may continue. */
const SLICES_PER_PAGE = 200;

/**
 * The first rows, searched slice by slice, so that filters with few matches do not delay others. `reached` is
 * where a search that needs more slices can continue.
 */
export async function firstRows<Row, Position>(
  list: SlicedList<Row, Position>,
  { after, limit }: { after?: Position | undefined; limit: number },
  slices = Number.POSITIVE_INFINITY,
  rowsIn: (slice: number) => number = () => ROWS_PER_SLICE,
): Promise<{ rows: Row[]; reached: Position | undefined }> {
  const rows: Row[] = [];
  let from = after;
  for (let slice = 0; slice < slices; slice += 1) {
    const upTo = await list.ahead(from, rowsIn(slice));
    rows.push(...(await list.matches(from, upTo, limit - rows.length)));
    if (upTo === undefined || rows.length === limit) {
      return { rows, reached: undefined };
    }
    from = upTo;
    await new Promise(setImmediate);
  }
  return { rows, reached: from };
}

/** For a search of any length on PostgreSQL: no statement reaches the limit of its time. */
export function growingSlice(slice: number): number {
  return Math.min(ROWS_PER_SLICE * 10 ** slice, MOST_ROWS_PER_SLICE);
}

/** A page, which may be shorter than its limit and still have a next one. */
export async function slicedPage<Row>(
  list: SlicedList<Row>,
  { after, limit }: LogPageRequest,
  positionOf: (row: Row) => LogPosition,
  slices = SLICES_PER_PAGE,
): Promise<LogPage<Row>> {
  const { rows, reached } = await firstRows(list, { after, limit: limit + 1 }, slices);
  return rows.length > limit
    ? { rows: rows.slice(0, limit), next: positionOf(rows[limit - 1] as Row) }
    : { rows, next: reached };
}

/** A page of several lists, each of which gets its share of the slices. */
export async function pageOfLists<Row>(
  lists: readonly SlicedList<Row>[],
  page: LogPageRequest,
  positionOf: (row: Row) => LogPosition,
): Promise<LogPage<Row>> {
  const slices = Math.max(1, Math.floor(SLICES_PER_PAGE / lists.length));
  const pages: LogPage<Row>[] = [];
  for (const list of lists) {
    pages.push(await slicedPage(list, page, positionOf, slices));
  }
  return mergedPages(pages, page.limit, positionOf);
}

/** The newest rows of several pages, up to the end of an incomplete one, which may have more. */
export function mergedPages<Row>(
  pages: readonly LogPage<Row>[],
  limit: number,
  positionOf: (row: Row) => LogPosition,
): LogPage<Row> {
  const reached = pages
    .flatMap(({ next }) => next ?? [])
    .sort(byAge)
    .at(-1);
  const shown = pages
    .flatMap(({ rows }) => rows)
    .filter((row) => reached === undefined || byAge(positionOf(row), reached) >= 0)
    .sort((one, other) => byAge(positionOf(other), positionOf(one)));
  const rows = shown.slice(0, limit);
  return { rows, next: shown.length > limit ? positionOf(rows.at(-1) as Row) : reached };
}
