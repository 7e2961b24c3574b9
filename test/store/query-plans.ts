import { join } from 'node:path';
import { CamelCasePlugin, createQueryId, type Kysely, type RootOperationNode } from 'kysely';
import { Sqlite } from '../../src/store/better-sqlite3.js';
import type { Database } from '../../src/store/database.js';
import type { Schema } from '../../src/store/schema.js';
import type { DatabaseUnderTest } from '../support/databases.js';

export type Use = (database: Database) => Promise<unknown>;

/** Of a statement that reads tables in its subqueries alone. */
const OF_NO_TABLE = 'SCAN CONSTANT ROW';

/** SQLite's plan for each statement of the use, on empty tables: by their indexes alone. */
export async function queryPlansOf(under: DatabaseUnderTest, use: Use): Promise<string[]> {
  const place = await under.newPlace();
  const database = await under.openMigrated(place);
  const asked: { sql: string; parameters: readonly unknown[] }[] = [];
  // As the service compiles them, with its form of placeholders.
  const compiler = database.reader.getExecutor();
  const snakeCase = new CamelCasePlugin();
  const noting = (db: Kysely<Schema>) =>
    db.withPlugin({
      transformQuery: (args) => {
        asked.push(
          compiler.compileQuery(snakeCase.transformQuery(args) as RootOperationNode, createQueryId()),
        );
        return args.node;
      },
      transformResult: async ({ result }) => result,
    });
  await use({
    ...database,
    reader: noting(database.reader),
    write: (work) => database.write((writer) => work(noting(writer))),
  });
  const explainer = new Sqlite(join(place.dataDir, 'integration.db'), { readonly: true });
  try {
    return asked.flatMap(({ sql, parameters }) =>
      explainer
        .prepare(`explain query plan ${sql}`)
        .all(...parameters.map(() => null))
        .map((row) => (row as { detail: string }).detail)
        .filter((detail) => detail !== OF_NO_TABLE),
    );
  } finally {
    explainer.close();
  }
}
