import { type Kysely, PostgresAdapter, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Rows, Writer } from '../../database.js';
import type { Schema } from '../../schema.js';

export function isPostgres(db: Pick<Kysely<unknown>, 'getExecutor'>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Rows by a subquery, which is raw SQL in parentheses. PostgreSQL looks up the entries of an array; it
 * assumes that a list is long, and would read the whole table.
 */
export function inQuery(db: Writer | Rows, column: string, query: RawBuilder<unknown>): RawBuilder<boolean> {
  return isPostgres(db) ? sql`${sql.ref(column)} = any(array${query})` : sql`${sql.ref(column)} in ${query}`;
}

/** A list of texts as one JSON value, because each length of a list would be another statement. */
export function inList(db: Writer | Rows, column: string, json: string): RawBuilder<boolean> {
  const texts = sql`(select json_array_elements_text(${json}::json))`;
  return inQuery(db, column, isPostgres(db) ? texts : sql`(select value from json_each(${json}))`);
}

/** The same for numbers. */
export function inNumbers(db: Writer, column: string, json: string): RawBuilder<boolean> {
  const numbers = sql`(select json_array_elements_text(${json}::json)::bigint)`;
  return inQuery(db, column, isPostgres(db) ? numbers : sql`(select value from json_each(${json}))`);
}

type Query<Table extends keyof Schema, Row> = SelectQueryBuilder<Schema, Table, Row>;

/** Locks the rows until the transaction ends. SQLite has one writer, and no syntax for it. */
export function kept<Table extends keyof Schema, Row>(
  db: Writer,
  query: Query<Table, Row>,
): Query<Table, Row> {
  return isPostgres(db) ? query.forShare() : query;
}

/** For their removal; skips rows locked by others. */
export function claimed<Table extends keyof Schema, Row>(
  db: Writer,
  query: Query<Table, Row>,
): Query<Table, Row> {
  return isPostgres(db) ? query.forUpdate().skipLocked() : query;
}
