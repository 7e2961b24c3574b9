import { invalidField, type ServiceError } from '../../errors/service-error.js';

/** The place of a row in a list: by age, then by id. */
export interface Position {
  createdAt: number;
  id: string;
}

/** A page to read: rows after a position, up to a limit. */
export interface PageRequest {
  after: Position | undefined;
  limit: number;
}

export interface Page<T> {
  rows: T[];
  /** Undefined if no more rows follow. */
  nextCursor: string | undefined;
  /** Whether no more rows follow, or the page reaches the limit. */
  isLast: boolean;
}

export interface Window {
  limit?: number;
  cursor?: string;
  /** The rows before the cursor were sent in the same answer. */
  isRest?: boolean;
}

/** What a first page leaves of a list. */
export interface Rest {
  cursor: string;
  limit: number | undefined;
}

/** Rows read and sent at a time, which bounds memory for lists of any length. */
export const PAGE_ROWS = 250;
/** For deferrable lists, from the second page on, so that short calls wait less. */
const SMALL_PAGE_ROWS = 100;
/** The size of a first page, which travels among short calls. A larger row is a page alone. */
export const FIRST_PAGE_BYTES = 64 * 1_024;
/** The size of later pages: each slow reader holds several in memory. `PAGE_ROWS` ordinary rows fit. */
export const PAGE_BYTES = 320 * 1_024;

type Row = Position & { json: string };

const CURSOR = /^(\d{1,16})\.(\w{1,64})$/;

/** A list, page by page, at the speed of its reader. Reads one extra row to know whether more follow. */
export async function* pagesOf<T extends Row>(
  list: string,
  fetch: (page: PageRequest) => Promise<T[]>,
  { limit = Number.POSITIVE_INFINITY, cursor, isRest = false }: Window,
  canWait: () => boolean = () => false,
): AsyncGenerator<Page<T>> {
  let after = cursor === undefined ? undefined : decodeCursor(placeIn(list, cursor, 'query.cursor'));
  let stillWanted = limit;
  const mostBytes = isRest ? PAGE_BYTES : FIRST_PAGE_BYTES;
  // How many rows probably fit into the next page, judged by the last one, so that few are read in vain.
  let probablyFit = PAGE_ROWS;
  for (;;) {
    const mostRows = isRest && canWait() ? SMALL_PAGE_ROWS : PAGE_ROWS;
    const asked = Math.min(mostRows, stillWanted, probablyFit);
    const found = await fetch({ after, limit: asked + 1 });
    const rows = fitted(found.slice(0, asked), mostBytes);
    const isCut = rows.length < Math.min(asked, found.length);
    probablyFit = isCut ? rows.length : Math.min(PAGE_ROWS, 2 * probablyFit);
    const more = found.length > rows.length;
    stillWanted -= rows.length;
    after = rows.at(-1);
    const nextCursor = more && after ? cursorOf(list, encodeCursor(after)) : undefined;
    const isLast = !more || stillWanted === 0;
    yield { rows, nextCursor, isLast };
    if (isLast) {
      return;
    }
  }
}

/** As many rows as fit, but at least one. */
function fitted<T extends Row>(rows: T[], mostBytes: number): T[] {
  let bytes = 0;
  const excess = rows.findIndex(({ json }, index) => {
    bytes += Buffer.byteLength(json) + 1;
    return index > 0 && bytes > mostBytes;
  });
  return excess === -1 ? rows : rows.slice(0, excess);
}

/** Where the list continues after its first page. */
export function restAfter(
  { rows, nextCursor, isLast }: Page<Position>,
  limit: number | undefined,
): Rest | undefined {
  return isLast || !nextCursor ? undefined : { cursor: nextCursor, limit: limit && limit - rows.length };
}

/** The cursor begins with the name of its list; other lists refuse it. */
export function cursorOf(list: string, place: string): string {
  return `${list}.${place}`;
}

/** The place in the list. Cursors of release 1.3.1 name no list; every list accepts them. */
export function placeIn(list: string, cursor: string, path: string): string {
  const end = cursor.lastIndexOf('.');
  if (end >= 0 && cursor.slice(0, end) !== list) {
    throw unknownCursor(path);
  }
  return cursor.slice(end + 1);
}

export function encodeCursor({ createdAt, id }: Position): string {
  return Buffer.from(`${createdAt}.${id}`).toString('base64url');
}

export function decodeCursor(cursor: string, path = 'query.cursor'): Position {
  const [, createdAt, id] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (createdAt === undefined || id === undefined) {
    throw unknownCursor(path);
  }
  return { createdAt: Number(createdAt), id };
}

export function unknownCursor(path: string): ServiceError {
  return invalidField(
    'The cursor or page token is not from this list.',
    path,
    'must be taken unchanged from an earlier answer of this list',
  );
}
