import { invalidField } from '../../errors/service-error.js';
import { decodeCursor, encodeCursor, type PageRequest, type Position } from '../directory/page.js';

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

export function pageLimit(pageSize: number): number {
  if (pageSize > MAX_PAGE_SIZE) {
    throw invalidField('The page is too large.', 'page_size', `must not be more than ${MAX_PAGE_SIZE}`);
  }
  return pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize;
}
