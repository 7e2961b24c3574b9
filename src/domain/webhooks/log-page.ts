import { decodeCursor, encodeCursor, unknownCursor } from '../directory/page.js';
import { type Listing, pageLimit } from '../platform/listing.js';

/** Where a row stands in a log: logs are in the order of time, and of what one time has in the order in which it was written. */
export interface LogPosition {
  createdAt: number;
  seq: number;
}

/** Before everything. */
export const BEGINNING: LogPosition = { createdAt: 0, seq: 0 };

/** What a store is asked for: at most so many rows behind a position. */
export interface LogPageRequest {
  after: LogPosition | undefined;
  limit: number;
}

/** A page of a long log. It may hold less than was asked for though more follows: where few rows match, the search goes on with the next page. */
export interface LogPage<T> {
  rows: T[];
  /** Where the next page begins; undefined at the end. */
  next: LogPosition | undefined;
}

/** As `listPage` in `../platform/listing.ts`, for logs. */
export async function logPage<T>(
  { pageSize, pageToken }: Listing,
  fetch: (page: LogPageRequest) => Promise<LogPage<T>>,
): Promise<{ rows: T[]; nextPageToken: string }> {
  const limit = pageLimit(pageSize);
  const after = pageToken === '' ? undefined : decodePosition(pageToken);
  const { rows, next } = await fetch({ after, limit });
  return { rows, nextPageToken: next ? encodePosition(next) : '' };
}

function encodePosition({ createdAt, seq }: LogPosition): string {
  return encodeCursor({ createdAt, id: String(seq) });
}

function decodePosition(pageToken: string): LogPosition {
  const { createdAt, id } = decodeCursor(pageToken, 'page_token');
  if (!/^\d{1,16}$/.test(id)) {
    throw unknownCursor('page_token');
  }
  return { createdAt, seq: Number(id) };
}
