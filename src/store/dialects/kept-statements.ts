import type BetterSqlite3 from 'better-sqlite3';
import type { SqliteDatabase, SqliteStatement } from 'kysely';

/** Far more than the texts there are; a list of varying length within a text makes several of it. */
const MAX_KEPT = 500;

/** Kysely prepares each query anew, which costs more than to run it; so each text is prepared once and kept. */
export function withKeptStatements(database: BetterSqlite3.Database): SqliteDatabase {
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
      const statement = reusable(database, sql);
      kept.set(sql, statement);
      return statement;
    },
  };
}

function reusable(database: BetterSqlite3.Database, sql: string): SqliteStatement {
  const statement = database.prepare(sql);
  return {
    reader: statement.reader,
    all: statement.reader ? rowsOf(statement.raw()) : (parameters) => statement.all(parameters),
    run: (parameters) => statement.run(parameters),
    // One that is being read row by row can do nothing else until the end, so each such reading has its own.
    iterate: (parameters) => database.prepare(sql).iterate(parameters),
  };
}

/** Lists of values made into rows here take a third less time than rows that SQLite's binding makes, which sets each column from outside. */
function rowsOf(statement: BetterSqlite3.Statement): SqliteStatement['all'] {
  let names: string[] | undefined;
  return (parameters) => {
    const lists = statement.all(parameters) as unknown[][];
    // Asked for after the first run, which prepares anew what a change of the schema has made stale.
    names ??= statement.columns().map(({ name }) => name);
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
