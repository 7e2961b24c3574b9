import { sql } from 'kysely';
import type { Rows } from '../../camel-case.js';

/**
 * Whether a row is another one or below it, in one statement: thousands may be above it, and a read for each
 * would keep other writes waiting. `union` ends at a ring. Each row above is looked up by its id, because
 * PostgreSQL might otherwise read the whole table for it.
 */
export function isBelow(db: Rows, table: 'units' | 'users', parent: 'parentId' | 'managerId') {
  return async (id: string, other: string): Promise<boolean> => {
    const { rows } = await sql`
      with recursive above (id) as (
        select id from ${sql.table(table)} where id = ${id}
        union
        select (select ${sql.ref(parent)} from ${sql.table(table)} where id = above.id) from above
        where above.id is not null
      )
      select id from above where id = ${other}
    `.execute(db);
    return rows.length > 0;
  };
}
