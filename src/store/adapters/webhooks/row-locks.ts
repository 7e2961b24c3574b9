import type { SelectQueryBuilder } from 'kysely';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { isPostgres } from '../statements/dialect.js';

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
