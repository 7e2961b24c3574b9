import { PostgresAdapter, type RawBuilder, sql } from 'kysely';
import type { Writer } from '../../database.js';

export function isPostgres(db: Writer): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * A list of texts, given as one JSON value: a list of values would make a statement of its own for each length. PostgreSQL looks each entry of an array
 * up; of a list it thinks that it is long, and would sooner read a whole table.
 */
export function inList(db: Writer, column: string, json: string): RawBuilder<boolean> {
  return isPostgres(db)
    ? sql`${sql.ref(column)} = any(array(select json_array_elements_text(${json}::json)))`
    : sql`${sql.ref(column)} in (select value from json_each(${json}))`;
}

/** The same of numbers. */
export function inNumbers(db: Writer, column: string, json: string): RawBuilder<boolean> {
  return isPostgres(db)
    ? sql`${sql.ref(column)} = any(array(select json_array_elements_text(${json}::json)::bigint))`
    : sql`${sql.ref(column)} in (select value from json_each(${json}))`;
}

/** In the words of the index of what is open, or SQLite would not use it. */
export const IS_OPEN = sql<boolean>`status in ('PENDING', 'HELD')`;

/** The same of what is pending. PostgreSQL knows by itself that it is open, and told so takes it for rarer than it is. */
export function isPending(db: Writer): RawBuilder<boolean> {
  return isPostgres(db) ? sql`status = 'PENDING'` : sql`${IS_OPEN} and status = 'PENDING'`;
}

/**
 * Conditions for rows that are looked up by their keys, in words that fit no index: PostgreSQL would rather look for them among all that is pending
 * where its statistics say that next to nothing is, as in a backlog after a quiet time.
 */
export const IS_PENDING_ITSELF = sql<boolean>`status || '' = 'PENDING'`;
