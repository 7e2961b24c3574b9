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
    all: (parameters) => statement.all(parameters),
    run: (parameters) => statement.run(parameters),
    // One that is being read row by row can do nothing else until the end, so each such reading has its own.
    iterate: (parameters) => database.prepare(sql).iterate(parameters),
  };
}
