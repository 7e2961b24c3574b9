import { invalidField } from '../../errors/service-error.js';
import {
  decodeCursor,
  encodeCursor,
  type PageRequest,
  type Position,
  unknownCursor,
} from '../directory/page.js';

const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 500;

export interface Listing {
  pageSize: number;
  pageToken: string;
}

/** One page for the back office, with the token of the next. */
export async function listPage<T extends Position>(
  { pageSize, pageToken }: Listing,
  fetch: (page: PageRequest) => Promise<T[]>,
): Promise<{ rows: T[]; nextPageToken: string }> {
  const limit = pageLimit(pageSize);
  const after = pageToken === '' ? undefined : decodeCursor(pageToken, 'page_token');
  const found = await fetch({ after, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, nextPageToken: found.length > limit && last ? encodeCursor(last) : '' };
}

/** Read at once of rows that may be large: a role or a worker may have a quarter of a megabyte. */
const LARGE_ROWS = 25;
/** Of the JSON of such a page. With one more piece it stays below the 16 MiB that a message may have. */
const MOST_CHARACTERS = 2 * 1_024 * 1_024;

/** The same for rows that may be large. Such a page may end before its limit, and the last one be empty. */
export async function listLargePage<T extends Position>(
  { pageSize, pageToken }: Listing,
  fetch: (page: PageRequest) => Promise<T[]>,
): Promise<{ rows: T[]; nextPageToken: string }> {
  const limit = pageLimit(pageSize);
  const rows: T[] = [];
  let after: Position | undefined = pageToken === '' ? undefined : decodeCursor(pageToken, 'page_token');
  for (let characters = 0; rows.length <= limit && characters < MOST_CHARACTERS; after = rows.at(-1)) {
    const wanted = Math.min(LARGE_ROWS, limit + 1 - rows.length);
    const piece = await fetch({ after, limit: wanted });
    rows.push(...piece);
    if (piece.length < wanted) {
      return { rows, nextPageToken: '' };
    }
    characters += JSON.stringify(piece).length;
  }
  const shown = rows.slice(0, limit);
  return { rows: shown, nextPageToken: encodeCursor(shown.at(-1) as T) };
}

/** The same for rows in the order of a text, which the token holds: the row itself may change or go. */
export async function textPage<T>(
  { pageSize, pageToken }: Listing,
  fetch: (after: string | undefined, limit: number) => Promise<T[]>,
  textOf: (row: NoInfer<T>) => string,
): Promise<{ rows: T[]; nextPageToken: string }> {
  const limit = pageLimit(pageSize);
  const found = await fetch(pageToken === '' ? undefined : decodeText(pageToken), limit + 1);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, nextPageToken: found.length > limit && last !== undefined ? encodeText(textOf(last)) : '' };
}

function encodeText(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** Refuses text that none can be, such as NUL. */
function decodeText(token: string): string {
  const text = Buffer.from(token, 'base64url').toString();
  if (encodeText(text) !== token || text.includes('\0')) {
    throw unknownCursor('page_token');
  }
  return text;
}

export function pageLimit(pageSize: number): number {
  if (pageSize > MAX_PAGE_SIZE) {
    throw invalidField('The page is too large.', 'page_size', `must not be more than ${MAX_PAGE_SIZE}`);
  }
  return pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize;
}
