import { type ExpressionWrapper, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { PageRequest } from '../../../domain/directory/page.js';

/** Rows after a position, by age: one row comparison, which both databases answer from the index. */
export function behind(table: string, page: PageRequest): ExpressionWrapper<never, never, SqlBool> {
  return beyond(table, page, '>');
}

function beyond(table: string, { after }: PageRequest, comparison: '<' | '>') {
  const condition = after
    ? sql<SqlBool>`(${sql.ref(`${table}.created_at`)}, ${sql.ref(`${table}.id`)}) ${sql.raw(comparison)} (${after.createdAt}, ${after.id})`
    : sql<SqlBool>`1 = 1`;
  return condition as unknown as ExpressionWrapper<never, never, SqlBool>;
}

/** A page of the query. The table is named as in the query. */
export function oldestFirst<Db, Table extends keyof Db, Row>(
  query: SelectQueryBuilder<Db, Table, Row>,
  table: string,
  page: PageRequest,
) {
  return query
    .where(beyond(table, page, '>'))
    .orderBy(sql.ref(`${table}.created_at`))
    .orderBy(sql.ref(`${table}.id`))
    .limit(page.limit)
    .execute();
}

export function newestFirst<Db, Table extends keyof Db, Row>(
  query: SelectQueryBuilder<Db, Table, Row>,
  table: string,
  page: PageRequest,
) {
  return query
    .where(beyond(table, page, '<'))
    .orderBy(sql.ref(`${table}.created_at`), 'desc')
    .orderBy(sql.ref(`${table}.id`), 'desc')
    .limit(page.limit)
    .execute();
}
