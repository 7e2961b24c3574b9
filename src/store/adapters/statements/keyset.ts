import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { PageRequest } from '../../../domain/directory/page.js';
import type { Rows } from '../../database.js';
import { keptQuery } from './kept-statement.js';

/**
 * A page of the query, oldest first. Rows after a position: one row comparison, which both databases answer
 * from the index. The table is named as in the query.
 */
function pageByAge<Db, Table extends keyof Db, Row>(
  query: SelectQueryBuilder<Db, Table, Row>,
  table: string,
  { after, limit }: PageRequest,
  direction: 'asc' | 'desc' = 'asc',
) {
  const [createdAt, id] = [sql.ref(`${table}.created_at`), sql.ref(`${table}.id`)];
  const beyond = sql.raw(direction === 'asc' ? '>' : '<');
  return query
    .$if(after !== undefined, (from) =>
      from.where(sql<SqlBool>`(${createdAt}, ${id}) ${beyond} (${after?.createdAt}, ${after?.id})`),
    )
    .orderBy(createdAt, direction)
    .orderBy(id, direction)
    .limit(limit);
}

const pageInOrder =
  (direction: 'asc' | 'desc') =>
  <Db, Table extends keyof Db, Row>(
    query: SelectQueryBuilder<Db, Table, Row>,
    table: string,
    page: PageRequest,
  ) =>
    pageByAge(query, table, page, direction).execute();

export const oldestFirst = pageInOrder('asc');
export const newestFirst = pageInOrder('desc');

/** The two reads of a list of an owner, oldest first: from its beginning, and after a position. */
export function keptPages<Db, Table extends keyof Db, Row>(
  reader: Rows,
  table: string,
  listOf: (ownerId: string) => SelectQueryBuilder<Db, Table, Row>,
): (ownerId: string, page: PageRequest) => Promise<Row[]> {
  const first = keptQuery(reader, (ownerId: string, limit: number) =>
    pageByAge(listOf(ownerId), table, { after: undefined, limit }),
  );
  const next = keptQuery(reader, (ownerId: string, createdAt: number, id: string, limit: number) =>
    pageByAge(listOf(ownerId), table, { after: { createdAt, id }, limit }),
  );
  return (ownerId, { after, limit }) =>
    after ? next(ownerId, after.createdAt, after.id, limit) : first(ownerId, limit);
}
