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
  return cutPage(await fetch({ after, limit: limit + 1 }), limit, encodeCursor);
}

/** The rows up to the limit, with the token of the next page if there are more. */
function cutPage<T>(found: T[], limit: number, tokenAfter: (last: T) => string) {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, nextPageToken: found.length > limit && last !== undefined ? tokenAfter(last) : '' };
}

/** A page ends before the row with which its texts would be longer. A character may be four bytes. */
const MOST_CHARACTERS = 2 * 1_024 * 1_024;

export interface SizedPosition extends Position {
  /** At least the characters of the texts of the row. */
  size: number;
}

/** The same for rows that may be large, of which 500 would be too much for a message and for memory. */
export async function listLargePage<T>(
  { pageSize, pageToken }: Listing,
  fetchSizes: (page: PageRequest) => Promise<SizedPosition[]>,
  fetch: (ids: string[]) => Promise<T[]>,
): Promise<{ rows: T[]; nextPageToken: string }> {
  const limit = pageLimit(pageSize);
  const after = pageToken === '' ? undefined : decodeCursor(pageToken, 'page_token');
  const found = await fetchSizes({ after, limit: limit + 1 });
  let characters = 0;
  const excess = found.findIndex(({ size }, index) => {
    characters += size;
    return index === limit || (index > 0 && characters > MOST_CHARACTERS);
  });
  const shown = cutPage(found, excess === -1 ? limit : excess, encodeCursor);
  return { ...shown, rows: await fetch(shown.rows.map(({ id }) => id)) };
}

/** The same for rows in the order of a text, which the token holds: the row itself may change or go. */
export async function textPage<T>(
  { pageSize, pageToken }: Listing,
  fetch: (after: string | undefined, limit: number) => Promise<T[]>,
  textOf: (row: NoInfer<T>) => string,
): Promise<{ rows: T[]; nextPageToken: string }> {
  const limit = pageLimit(pageSize);
  const after = pageToken === '' ? undefined : decodeText(pageToken);
  return cutPage(await fetch(after, limit + 1), limit, (last) => encodeText(textOf(last)));
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
