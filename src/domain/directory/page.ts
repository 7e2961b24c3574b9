import { ErrorCode, ServiceError } from '../../errors/service-error.js';

/** Where a row stands in a list: lists are in the order of age, and ids break ties. */
export interface Position {
  createdAt: number;
  id: string;
}

/** What a store is asked for: at most so many rows behind a position. */
export interface PageRequest {
  after: Position | undefined;
  limit: number;
}

export interface Page<T> {
  rows: T[];
  /** Only when a limit was asked for and more rows stand behind it. */
  nextCursor: string | undefined;
  isLast: boolean;
}

export interface Window {
  limit?: number;
  cursor?: string;
}

/** Rows fetched and sent at a time; memory stays flat however long a list is. */
export const PAGE_ROWS = 250;
/** Of lists that can wait, from the second page on: a page that holds up a short call holds it up for less. */
const SMALL_PAGE_ROWS = 100;

const CURSOR = /^(\d{1,16})\.(\w{1,64})$/;

/** A list, page after page, as fast as whoever reads it. One row more than needed tells whether there is more. */
export async function* pagesOf<T extends Position>(
  fetch: (page: PageRequest) => Promise<T[]>,
  { limit = Number.POSITIVE_INFINITY, cursor }: Window,
  canWait: () => boolean = () => false,
): AsyncGenerator<Page<T>> {
  let after = cursor === undefined ? undefined : decodeCursor(cursor);
  let most = PAGE_ROWS;
  for (let wanted = limit; ; ) {
    const size = Math.min(most, wanted);
    const found = await fetch({ after, limit: size + 1 });
    const rows = found.slice(0, size);
    const more = found.length > size;
    wanted -= rows.length;
    after = rows.at(-1);
    const nextCursor = more && wanted === 0 && after ? encodeCursor(after) : undefined;
    const isLast = !more || wanted === 0;
    yield { rows, nextCursor, isLast };
    if (isLast) {
      return;
    }
    most = canWait() ? SMALL_PAGE_ROWS : PAGE_ROWS;
  }
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
  const fieldViolations = [{ path, message: 'must be taken from an earlier answer as it stands' }];
  return new ServiceError(ErrorCode.INVALID_REQUEST, 'The cursor is not one of ours.', { fieldViolations });
}
