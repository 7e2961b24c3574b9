import { asColumns } from '../output/table.js';
import type { Shown } from './session.js';

const LARGEST_PAGE = 500;

interface PageRequest {
  pageSize: number;
  pageToken: string;
}

/** Reads pages until the end or the limit; `name` is the field of the answer that has the rows. */
export async function listed<Name extends string, T>(
  limit = Number.POSITIVE_INFINITY,
  name: Name,
  fetch: (page: PageRequest) => Promise<Record<Name, readonly T[]> & { nextPageToken: string }>,
): Promise<{ rows: T[]; more: boolean }> {
  const rows: T[] = [];
  for (let pageToken = ''; ; ) {
    const page = await fetch({ pageSize: Math.min(limit - rows.length, LARGEST_PAGE), pageToken });
    rows.push(...page[name]);
    pageToken = page.nextPageToken;
    if (pageToken === '' || rows.length >= limit) {
      return { rows, more: pageToken !== '' };
    }
  }
}

/** Scripts get the rows, people a table of the main columns. */
export function shownList<T>(
  { rows, more }: { rows: readonly T[]; more: boolean },
  head: readonly string[],
  cellsOf: (row: T) => readonly string[],
): Shown {
  const table = rows.length === 0 ? 'There are none.' : asColumns(head, rows.map(cellsOf));
  return { json: rows, text: more ? `${table}\n\nThere are more: raise --limit.` : table };
}
