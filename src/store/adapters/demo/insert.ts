import { newVersion } from '../../../domain/version.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';

const ROWS_PER_INSERT = 100;

/** Tables whose rows get a version of their own. */
const VERSIONED = [
  'instances',
  'integrations',
  'instance_integrations',
  'accounts',
  'clients',
  'roles',
  'users',
  'unit_types',
  'units',
  'locations',
  'workers',
  'api_keys',
] as const satisfies (keyof Schema)[];

type Versioned = (typeof VERSIONED)[number];

const versioned: ReadonlySet<keyof Schema> = new Set(VERSIONED);

/** Passes over rows that are there already, and tells how many were not. */
export async function insert<T extends keyof Schema>(
  writer: Writer,
  table: T,
  rows: readonly (T extends Versioned ? Omit<Schema[T], 'version'> : Schema[T])[],
): Promise<number> {
  let inserted = 0;
  for (const some of inParts(rows)) {
    const values = versioned.has(table) ? some.map((row) => ({ ...row, version: newVersion() })) : some;
    const { numInsertedOrUpdatedRows } = await writer
      .insertInto(table)
      .values(values as never)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    inserted += Number(numInsertedOrUpdatedRows);
  }
  return inserted;
}

/** Databases bound how many values one statement may carry. */
function* inParts<T>(rows: readonly T[]): Generator<T[]> {
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    yield rows.slice(from, from + ROWS_PER_INSERT);
  }
}

export function timesAt(at: number) {
  return { created_at: at, updated_at: at };
}
