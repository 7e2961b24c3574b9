import type { ClientId } from '../../../../generated/ids.js';
import type { Rows } from '../../camel-case.js';

/** Counts the rows that a client has in a table. */
export function countOfClient(db: Rows, table: 'jobTitles' | 'locations' | 'units' | 'unitTypes') {
  return async (clientId: ClientId): Promise<number> => {
    const { count } = await db
      .selectFrom(table)
      .where('clientId', '=', clientId)
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow();
    return Number(count);
  };
}
