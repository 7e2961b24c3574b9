import type { Insertable, Kysely, Updateable } from 'kysely';
import type { Rows, Tables } from '../../camel-case.js';

interface AnyTable {
  row: { id: string };
}

/** The writes of one row of a table whose rows have ids. */
export function plainWrites<Table extends keyof Tables>(rows: Rows, table: Table) {
  const db = rows as unknown as Kysely<AnyTable>;
  const named = table as keyof AnyTable;
  return {
    insert: async (row: Insertable<Tables[Table]>): Promise<void> => {
      await db
        .insertInto(named)
        .values(row as never)
        .execute();
    },
    update: async (row: Updateable<Tables[Table]> & { id: string }): Promise<void> => {
      await db.updateTable(named).set(row).where('id', '=', row.id).execute();
    },
    delete: async (id: string): Promise<void> => {
      await db.deleteFrom(named).where('id', '=', id).execute();
    },
  };
}
