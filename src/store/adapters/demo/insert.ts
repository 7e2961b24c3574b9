import type { Insertable } from 'kysely';
import { newVersion } from '../../../domain/version.js';
import { camelCased, type Tables } from '../../camel-case.js';
import type { Writer } from '../../database.js';

/** Databases limit the values of a statement. */
const ROWS_PER_INSERT = 100;

/** Tables with a version per row. */
const VERSIONED = [
  'instances',
  'integrations',
  'instanceIntegrations',
  'accounts',
  'clients',
  'roles',
  'users',
  'unitTypes',
  'units',
  'locations',
  'workers',
  'apiKeys',
] as const satisfies (keyof Tables)[];

type Versioned = (typeof VERSIONED)[number];

const versioned: ReadonlySet<keyof Tables> = new Set(VERSIONED);

/** Skips existing rows, and returns the number inserted. */
export async function insert<T extends keyof Tables>(
  writer: Writer,
  table: T,
  rows: readonly (T extends Versioned ? Omit<Insertable<Tables[T]>, 'version'> : Insertable<Tables[T]>)[],
): Promise<number> {
  let inserted = 0;
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    const some = rows.slice(from, from + ROWS_PER_INSERT);
    const values = versioned.has(table) ? some.map((row) => ({ ...row, version: newVersion() })) : some;
    const { numInsertedOrUpdatedRows } = await camelCased(writer)
      .insertInto(table)
      .values(values as never)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    inserted += Number(numInsertedOrUpdatedRows);
  }
  return inserted;
}

export function timesAt(at: number) {
  return { createdAt: at, updatedAt: at };
}
