import type { CompiledQuery, QueryResult, SqliteDatabase } from 'kysely';
import type { Writer } from '../database.js';

const databases = new WeakMap<Writer, SqliteDatabase>();

/** Lets compiled statements of this Kysely run on its SQLite connection at once: Kysely's way to a connection takes as long as SQLite needs for a small statement. */
export function allowDirectStatements(kysely: Writer, database: SqliteDatabase): void {
  databases.set(kysely, database);
}

/** Runs what is compiled already, on either database. */
export async function executeCompiled<Row>(
  db: Writer,
  compiled: CompiledQuery<Row>,
  parameters: readonly unknown[],
): Promise<QueryResult<Row>> {
  const database = databases.get(db);
  if (database === undefined) {
    return db.executeQuery<Row>({ ...compiled, parameters });
  }
  const statement = database.prepare(compiled.sql);
  if (statement.reader) {
    return { rows: statement.all(parameters) as Row[] };
  }
  return { rows: [], numAffectedRows: BigInt(statement.run(parameters).changes) };
}
