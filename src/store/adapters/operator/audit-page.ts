import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { PageRequest, Position } from '../../../domain/directory/page.js';
import type { AuditFilter } from '../../../domain/operator/audit.js';
import { CallerLeft } from '../../../errors/service-error.js';
import type { Rows, Tables } from '../../database.js';
import { isPostgres } from '../statements/dialect.js';
import { newestFirst } from '../statements/keyset.js';
import { firstRows, growingSlice, type SlicedList } from '../webhooks/logs/sliced-page.js';

type Row = Tables['auditEvents'];

/** What one index has in the order of the list. The caller bounds it by the positions, if there are any. */
type Source = (after?: Position, upTo?: Position) => SelectQueryBuilder<Tables, 'auditEvents', object>;

/**
 * A page of the log, newest first. A party has two sources: what it did, and what was done to it. The search
 * ends when `isOver` says so.
 */
export async function auditPage(
  db: Rows,
  page: PageRequest,
  filter: AuditFilter,
  isOver = () => false,
): Promise<Row[]> {
  const { since, until, partyId } = filter;
  // Only the narrower bound at each end: of two, SQLite may go by the wrong one.
  const span: Source = (after, upTo) =>
    db
      .selectFrom('auditEvents')
      .$if(since !== undefined && !upTo, (query) => query.where('createdAt', '>=', since as number))
      .$if(until !== undefined && !(after && after.createdAt < until), (query) =>
        query.where('createdAt', '<', until as number),
      );
  if (partyId === undefined) {
    return search(db, span, page, filter, isOver);
  }
  const rows = new Map<string, Row>();
  for (const party of ['actorId', 'subjectId'] as const) {
    const source: Source = (...bounds) => span(...bounds).where(party, '=', partyId);
    for (const row of await search(db, source, page, filter, isOver)) {
      rows.set(row.id, row);
    }
  }
  return [...rows.values()].sort(newerFirst).slice(0, page.limit);
}

function newerFirst(one: Position, other: Position): number {
  return other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1);
}

/** Slice by slice: no index has types and outcomes, so a filter with few matches may read the whole log. */
async function search(
  db: Rows,
  source: Source,
  page: PageRequest,
  filter: AuditFilter,
  isOver: () => boolean,
): Promise<Row[]> {
  if (filter.types.length === 0 && filter.outcome === undefined) {
    return newestFirst(source(page.after).selectAll(), 'auditEvents', page);
  }
  const list: SlicedList<Row, Position> = {
    ahead: async (after, rows) => {
      if (isOver()) {
        throw new CallerLeft();
      }
      const last = source(after)
        .select(['id', 'createdAt'])
        .offset(rows - 1);
      return (await newestFirst(last, 'auditEvents', { after, limit: 1 }))[0];
    },
    matches: (after, upTo, limit) =>
      newestFirst(matching(source(after, upTo), upTo, filter), 'auditEvents', { after, limit }),
  };
  const sizes = isPostgres(db) ? growingSlice : undefined;
  return (await firstRows(list, page, undefined, sizes)).rows;
}

/** The rows up to a place, inclusive. */
function matching(span: ReturnType<Source>, upTo: Position | undefined, { types, outcome }: AuditFilter) {
  return span
    .selectAll()
    .$if(upTo !== undefined, (query) =>
      query.where(sql<boolean>`(created_at, id) >= (${upTo?.createdAt}, ${upTo?.id})`),
    )
    .$if(types.length > 0, (query) =>
      query.where((where) => where.or(types.map((type) => ofType(where, type)))),
    )
    .where(({ and }) => and({ outcome }));
}

/** Types in byte order, where equal prefixes are a range: `a.` up to `a/`. */
function ofType(where: ExpressionBuilder<Tables, 'auditEvents'>, type: string) {
  if (!type.endsWith('.*')) {
    return where('type', '=', type);
  }
  const beginning = type.slice(0, -2);
  return sql<boolean>`(type >= ${`${beginning}.`} and type < ${`${beginning}/`})`;
}
