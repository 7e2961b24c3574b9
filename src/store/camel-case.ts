import { CamelCasePlugin, type Kysely } from 'kysely';
import type { Writer } from './database.js';
import type { Schema } from './schema.js';

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name & string;

/** The tables in the spelling of the domain; the database spells in snake_case. */
export type Tables = {
  [Table in keyof Schema as CamelCase<Table>]: {
    [Column in keyof Schema[Table] as CamelCase<Column>]: Schema[Table][Column];
  };
};

/** What an adapter reads or writes with, in the spelling of the domain. */
export type Rows = Kysely<Tables>;

class Plugin extends CamelCasePlugin {
  nameOf(column: string): string {
    return this.camelCase(column);
  }
}

const plugin = new Plugin();

/** The name that a column of a result gets. */
export const camelCase = (column: string) => plugin.nameOf(column);

/** The same database, reader or transaction; made once for each. */
export const camelCased = keptRows((db) => db.withPlugin(plugin) as unknown as Rows);

/** Makes the adapters of a database once: on SQLite all transactions share one. */
export function keptRows<Made extends object>(make: (db: Writer) => Made): (db: Writer) => Made {
  const kept = new WeakMap<Writer, Made>();
  return (db) => {
    let rows = kept.get(db);
    if (rows === undefined) {
      rows = make(db);
      kept.set(db, rows);
    }
    return rows;
  };
}
