import { UsageError } from '../errors.js';
import { asColumns, asFacts, asTime, type Columns } from '../output/table.js';
import type { Shown } from './session.js';

/** What a command shows of one thing: its values by title. */
export type Facts<T> = Readonly<Record<string, (thing: T) => string | readonly string[]>>;

/** The last facts of most things. */
export const CHANGES = {
  Created: ({ createdAt }) => asTime(createdAt),
  Changed: ({ updatedAt }) => asTime(updatedAt),
  Version: ({ version }) => version,
} satisfies Facts<{ createdAt?: Date | undefined; updatedAt?: Date | undefined; version: string }>;

/** Shows an answer with one thing, which is the member `name`: its facts, then remarks. */
export function showing<Name extends string, T>(
  name: Name,
  facts: Facts<T>,
): (answer: { [Field in Name]?: T | undefined }, ...remarks: readonly string[]) => Shown {
  return (answer, ...remarks) => {
    const rows = Object.entries(facts).map(([title, of]) => [title, of(answer[name] as T)] as const);
    return { json: answer, text: [asFacts(rows), ...remarks].join('\n\n') };
  };
}

/** Columns of a list: the facts with these titles. */
export function columnsOf<T, Title extends string>(
  facts: Readonly<Record<Title, (thing: T) => string | readonly string[]>>,
  ...titles: readonly Title[]
): Columns<T> {
  return Object.fromEntries(
    titles.map((title) => [title.toLowerCase(), (thing) => [facts[title](thing)].flat().join(' ')]),
  );
}

/** A secret, which can be shown only once. */
export function shownOnce(name: string, secret: string): string {
  return `${name}, shown this once:\n\n  ${secret}\n`;
}

/** The fields that were typed, as the mask of an update names them. */
export function updateMaskOf(
  fields: object,
  advice = 'Say what to change; --help lists what can be.',
): string[] {
  const mask = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  if (mask.length === 0) {
    throw new UsageError(advice);
  }
  return mask;
}

const LARGEST_PAGE = 500;

type FetchPage<Name extends string, T> = (page: {
  pageSize: number;
  pageToken: string;
}) => Promise<Record<Name, readonly T[]> & { nextPageToken: string }>;

/**
 * Reads pages until the end or the limit, and says whether that left some out. `name` is the field of the
 * answer that has the rows.
 */
export async function listed<Name extends string, T>(
  name: Name,
  fetch: FetchPage<Name, T>,
  limit = Number.POSITIVE_INFINITY,
): Promise<{ rows: readonly T[]; more: boolean }> {
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
export function shownList<T>(rows: readonly T[], columns: Columns<T>, more = false): Shown {
  const table = rows.length === 0 ? 'There are none.' : asColumns(rows, columns);
  return { json: rows, text: table, note: more ? 'There are more: raise --limit.' : undefined };
}

/** `owner` reads what the rows belong to: of one that does not exist, the service answers with no rows. */
export async function shownPages<Name extends string, T>(
  limit: number | undefined,
  name: Name,
  fetch: FetchPage<Name, T>,
  columns: Columns<T>,
  owner?: () => unknown,
): Promise<Shown> {
  const { rows, more } = await listed(name, fetch, limit);
  if (rows.length === 0) {
    await owner?.();
  }
  return shownList(rows, columns, more);
}
