import { type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import type { PageRequest } from '../../../domain/directory/page.js';

/** Rows after a position, newest first; the counterpart of `behind` in `../statements/keyset.ts`. */
export function olderThan(table: string, { after }: PageRequest): ExpressionWrapper<never, never, SqlBool> {
  const condition = after
    ? sql<SqlBool>`(${sql.ref(`${table}.created_at`)}, ${sql.ref(`${table}.id`)}) < (${after.createdAt}, ${after.id})`
    : sql<SqlBool>`1 = 1`;
  return condition as unknown as ExpressionWrapper<never, never, SqlBool>;
}
