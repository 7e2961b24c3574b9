import { PostgresAdapter, type RawBuilder, sql } from 'kysely';
import type { Writer } from '../../database.js';

export function isPostgres(db: Writer): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** A list of texts, given as one JSON value: a list of values would make a statement of its own for each length. */
export function inList(db: Writer, column: string, json: string): RawBuilder<boolean> {
  return isPostgres(db)
    ? sql`${sql.ref(column)} in (select json_array_elements_text(${json}::json))`
    : sql`${sql.ref(column)} in (select value from json_each(${json}))`;
}

/** In the words of the index of what is open, or SQLite would not use it. */
export const IS_OPEN = sql<boolean>`status in ('PENDING', 'HELD')`;
