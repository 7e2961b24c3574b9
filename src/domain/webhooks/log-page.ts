import { decodeCursor, encodeCursor, type PageRequest, type Position } from '../directory/page.js';
import { type Listing, pageLimit } from '../platform/listing.js';

/** A page of a long log. It may hold less than was asked for though more follows: where few rows match, the search goes on with the next page. */
export interface LogPage<T> {
  rows: T[];
  /** Where the next page begins; undefined at the end. */
  next: Position | undefined;
}

/** As `listPage` in `../platform/listing.ts`, for logs. */
export async function logPage<T>(
  { pageSize, pageToken }: Listing,
  fetch: (page: PageRequest) => Promise<LogPage<T>>,
): Promise<{ rows: T[]; nextPageToken: string }> {
  const limit = pageLimit(pageSize);
  const after = pageToken === '' ? undefined : decodeCursor(pageToken, 'page_token');
  const { rows, next } = await fetch({ after, limit });
  return { rows, nextPageToken: next ? encodeCursor(next) : '' };
}
