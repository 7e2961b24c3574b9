import type { CompiledQuery, DialectAdapter, Insertable } from 'kysely';
import type { Rows, Tables } from '../../camel-case.js';
import { postCompiled } from '../../dialects/direct-statements.js';
import { named } from '../../dialects/postgres/named-statements.js';

const MOST_ROWS = 64;

/**
 * Inserts any number of rows with few prepared statements, for 64 rows, 32, and so on. The first row names
 * the columns of all, so a row may leave none out.
 */
export function keptInsertion<Table extends keyof Tables, Row extends Insertable<Tables[Table]>>(
  table: Table,
  run: (db: Rows, compiled: CompiledQuery, parameters: readonly unknown[]) => Promise<unknown> = postCompiled,
): (db: Rows, rows: readonly Required<Row>[]) => Promise<void> {
  const kept = new WeakMap<DialectAdapter, Map<number, CompiledQuery>>();
  let columns: readonly string[] = [];
  const textFor = (db: Rows, size: number): CompiledQuery => {
    const { adapter } = db.getExecutor();
    const ofAdapter = kept.get(adapter) ?? new Map<number, CompiledQuery>();
    kept.set(adapter, ofAdapter);
    const present = ofAdapter.get(size);
    if (present) {
      return present;
    }
    const row = Object.fromEntries(columns.map((column) => [column, '']));
    const compiled = named(
      db
        .insertInto(table)
        .values(Array.from({ length: size }, () => row) as never)
        .compile(),
    );
    ofAdapter.set(size, compiled);
    return compiled;
  };
  return async (db, rows) => {
    if (columns.length === 0) {
      columns = Object.keys(rows[0] ?? {});
    }
    let size = MOST_ROWS;
    for (let from = 0; from < rows.length; from += size) {
      while (size > rows.length - from) {
        size /= 2;
      }
      const parameters: unknown[] = [];
      for (let index = from; index < from + size; index += 1) {
        for (const column of columns) {
          parameters.push((rows[index] as Record<string, unknown>)[column]);
        }
      }
      await run(db, textFor(db, size), parameters);
    }
  };
}
