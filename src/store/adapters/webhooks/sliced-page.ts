import type { LogPage, LogPageRequest, LogPosition } from '../../../domain/webhooks/log-page.js';
import { byAge } from './log-conditions.js';

/** A list in the order of age, the newest first, of which a filter may leave little. */
export interface SlicedList<Row> {
  /** Where the row stands that is so many behind the position; undefined where fewer are left. */
  ahead(after: LogPosition | undefined, rows: number): Promise<LogPosition | undefined>;
  /** What the filter leaves behind one position and up to another, which belongs to it. */
  matches(after: LogPosition | undefined, upTo: LogPosition | undefined, limit: number): Promise<Row[]>;
}

/** A millisecond or two of SQLite, which takes no turns of its own, for the others wait meanwhile. */
const ROWS_PER_SLICE = 2_000;
/** Whoever looks for what is rare gets a shorter page, and may go on. */
const SLICES_PER_PAGE = 200;

/** Looks for a page slice by slice, so that a filter that matches next to nothing holds up nobody, however long the list is. */
export async function slicedPage<Row>(
  list: SlicedList<Row>,
  { after, limit }: LogPageRequest,
  positionOf: (row: Row) => LogPosition,
): Promise<LogPage<Row>> {
  const rows: Row[] = [];
  let from = after;
  for (let slice = 0; slice < SLICES_PER_PAGE; slice += 1) {
    const upTo = await list.ahead(from, ROWS_PER_SLICE);
    rows.push(...(await list.matches(from, upTo, limit + 1 - rows.length)));
    if (rows.length > limit) {
      return { rows: rows.slice(0, limit), next: positionOf(rows[limit - 1] as Row) };
    }
    if (upTo === undefined) {
      return { rows, next: undefined };
    }
    from = upTo;
    await new Promise(setImmediate);
  }
  return { rows, next: from };
}

/** The newest of several pages. Behind where one of them broke off, nothing may be shown yet: something of that one may belong before it. */
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
