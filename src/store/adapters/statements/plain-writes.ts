import type { Compilable, Insertable, Kysely, Updateable } from 'kysely';
import type { Rows, Tables } from '../../camel-case.js';
import { posted } from './kept-statement.js';

type Row = { id: string };

/** Stands for every table. */
type Db = Kysely<{ table: Row }>;
type Table = 'table';

const insertion = perColumns((db, table, row) => db.insertInto(table).values(row));
const change = perColumns((db, table, { id, ...fields }) =>
  db.updateTable(table).set(fields).where('id', '=', id),
);
const deletion = perColumns((db, table, { id }) => db.deleteFrom(table).where('id', '=', id));

/** The writes of one row of a table whose rows have ids. */
export function plainWrites<Name extends keyof Tables>(db: Rows, name: Name) {
  return {
    insert: (row: Insertable<Tables[Name]>): Promise<void> => insertion(db, name, row as unknown as Row),
    update: (row: Updateable<Tables[Name]> & Row): Promise<void> => change(db, name, row),
    delete: (id: string): Promise<void> => deletion(db, name, { id }),
  };
}

/** A kept statement for each table and set of columns. */
function perColumns(build: (db: Db, table: Table, row: Row) => Compilable<unknown>) {
  const kept = new Map<string, ReturnType<typeof posted<Row>>>();
  return async (db: Rows, name: keyof Tables, given: Row): Promise<void> => {
    const row = Object.values(given).includes(undefined as never) ? withoutMissing(given) : given;
    const signature = [name, ...Object.keys(row)].join();
    let write = kept.get(signature);
    if (!write) {
      write = posted((rows: Rows, values: Row) => build(rows as unknown as Db, name as Table, values));
      kept.set(signature, write);
    }
    await write(db, row);
  };
}

/** As Kysely does, which would otherwise find a placeholder in their place. */
function withoutMissing(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as Row;
}
