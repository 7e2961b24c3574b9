import type { Insertable } from 'kysely';
import { camelCased, type Tables } from '../../camel-case.js';
import type { Writer } from '../../database.js';

/** Databases limit the values of a statement. */
const ROWS_PER_INSERT = 100;

/** Skips existing rows, and returns the number inserted. */
export async function insert<T extends keyof Tables>(
  writer: Writer,
  table: T,
  rows: readonly Insertable<Tables[T]>[],
): Promise<number> {
  let inserted = 0;
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    const some = rows.slice(from, from + ROWS_PER_INSERT);
    const { numInsertedOrUpdatedRows } = await camelCased(writer)
      .insertInto(table)
      .values(some as never)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    inserted += Number(numInsertedOrUpdatedRows);
  }
  return inserted;
}
