import { asColumns } from '../output/table.js';
import type { Shown } from './session.js';

const LARGEST_PAGE = 500;

interface PageRequest {
  pageSize: number;
  pageToken: string;
}

/** Reads pages until the end or the limit. */
export async function listed<T>(
  limit: number | undefined,
  fetch: (page: PageRequest) => Promise<{ rows: readonly T[]; nextPageToken: string }>,
): Promise<{ rows: T[]; more: boolean }> {
  const rows: T[] = [];
  for (let pageToken = ''; ; ) {
    const wanted = (limit ?? Number.POSITIVE_INFINITY) - rows.length;
    const page = await fetch({ pageSize: Math.min(wanted, LARGEST_PAGE), pageToken });
    rows.push(...page.rows);
    pageToken = page.nextPageToken;
    if (pageToken === '' || rows.length >= (limit ?? Number.POSITIVE_INFINITY)) {
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
