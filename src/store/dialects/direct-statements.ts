import type { CompiledQuery, QueryResult, SqliteDatabase } from 'kysely';
import type { Rows } from '../camel-case.js';
import type { Writer } from '../database.js';

const databases = new WeakMap<Writer | Rows, SqliteDatabase>();

/** Runs compiled statements directly on SQLite: Kysely's path costs as much as a small statement. */
export function allowDirectStatements(kysely: Writer | Rows, database: SqliteDatabase): void {
  databases.set(kysely, database);
}

/** Runs a compiled statement on either database. */
export async function executeCompiled<Row>(
  db: Writer | Rows,
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
