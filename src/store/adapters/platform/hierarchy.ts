import { sql } from 'kysely';
import type { Rows } from '../../database.js';

const NO_LIMIT = 2 ** 31;

/**
 * Whether a row is another one or below it, in one statement: thousands may be above it, and a read for each
 * would keep other writes waiting. `union` ends at a ring. Each row above is looked up by its id, because
 * PostgreSQL might otherwise read the whole table for it. The outer `limit` ends the recursion in both
 * databases; PostgreSQL allows no `limit` inside it.
 */
export function isBelow(db: Rows, table: 'units' | 'users', parent: 'parentId' | 'managerId') {
  return async (id: string, other: string, limit = NO_LIMIT): Promise<boolean | undefined> => {
    const { rows } = await sql<{ found: number | string; seen: number | string }>`
      with recursive above (id) as (
        select id from ${sql.table(table)} where id = ${id}
        union
        select (select ${sql.ref(parent)} from ${sql.table(table)} where id = above.id) from above
        where above.id is not null
      )
      select count(case when id = ${other} then 1 end) as found, count(id) as seen
      from (select id from above limit ${limit + 1}) as seen
    `.execute(db);
    const [{ found, seen } = { found: 0, seen: 0 }] = rows;
    return Number(found) > 0 || (Number(seen) > limit ? undefined : false);
  };
}
