import type BetterSqlite3 from 'better-sqlite3';
import type { SqliteDatabase, SqliteStatement } from 'kysely';

/** Far more than the present texts; lists of varying length make several. */
const MAX_KEPT = 500;

/** Keeps prepared statements: Kysely prepares each query again, which costs more than running it. */
export function withKeptStatements(
  database: BetterSqlite3.Database,
  nameOf: (column: string) => string = (column) => column,
): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare: (sql) => {
      const present = kept.get(sql);
      if (present) {
        return present;
      }
      if (kept.size >= MAX_KEPT) {
        kept.clear();
      }
      const statement = reusable(database, sql, nameOf);
      kept.set(sql, statement);
      return statement;
    },
  };
}

function reusable(
  database: BetterSqlite3.Database,
  sql: string,
  nameOf: (column: string) => string,
): SqliteStatement {
  const statement = database.prepare(sql);
  return {
    reader: statement.reader,
    all: statement.reader ? rowsOf(statement.raw(), nameOf) : (parameters) => statement.all(parameters),
    run: (parameters) => statement.run(parameters),
    // A statement that is read row by row is busy until the end, so each such read prepares its own.
    iterate: (parameters) => database.prepare(sql).iterate(parameters),
  };
}

/** Arrays made into objects here take a third less time than objects of the binding. */
function rowsOf(
  statement: BetterSqlite3.Statement,
  nameOf: (column: string) => string,
): SqliteStatement['all'] {
  let names: string[] | undefined;
  return (parameters) => {
    const lists = statement.all(parameters) as unknown[][];
    // After the first run, which prepares again if the schema has changed.
    names ??= statement.columns().map(({ name }) => nameOf(name));
    return lists.map((values) => rowOf(names as string[], values));
  };
}

function rowOf(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < names.length; index += 1) {
    row[names[index] as string] = values[index];
  }
  return row;
}
