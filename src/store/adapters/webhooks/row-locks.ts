import type { SelectQueryBuilder } from 'kysely';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { isPostgres } from './dialect-words.js';

type Query<Table extends keyof Schema, Row> = SelectQueryBuilder<Schema, Table, Row>;

/** Nobody changes or removes the rows that are found until the transaction ends. SQLite has one writer at a time, and no words for this. */
export function kept<Table extends keyof Schema, Row>(
  db: Writer,
  query: Query<Table, Row>,
): Query<Table, Row> {
  return isPostgres(db) ? query.forShare() : query;
}

/** For their removal; leaves out those that somebody else is about to change, remove or keep. */
export function claimed<Table extends keyof Schema, Row>(
  db: Writer,
  query: Query<Table, Row>,
): Query<Table, Row> {
  return isPostgres(db) ? query.forUpdate().skipLocked() : query;
}
