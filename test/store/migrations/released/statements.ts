import { createHash } from 'node:crypto';
import {
  type Dialect,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { migrations } from '../../../../src/store/migrations/index.js';
import type { DatabaseUnderTest } from '../../../support/databases.js';

const createDriver = () => new DummyDriver();
const DIALECTS: Record<DatabaseUnderTest['kind'], Dialect> = {
  SQLite: {
    ...{ createDriver, createAdapter: () => new SqliteAdapter() },
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
  PostgreSQL: {
    ...{ createDriver, createAdapter: () => new PostgresAdapter() },
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
};

/** The name of the first life, which is random. */
const LIFE = /'[0-9a-f]{12}'/;

/**
 * The hash of the statements that the migrations up to `newest` run on a database without rows, and of what
 * they require. It leaves out parameters, and changes of single rows by code of the domain.
 */
export async function hashOfStatements(newest: string, kind: DatabaseUnderTest['kind']): Promise<string> {
  const ran: string[] = [];
  const db = new Kysely<unknown>({
    dialect: DIALECTS[kind],
    log: ({ query }) => {
      ran.push(query.sql);
    },
  });
  for (const [name, { up, required = '' }] of Object.entries(migrations)) {
    if (name <= newest) {
      ran.push(name, required);
      await up(db);
    }
  }
  const text = ran.map((statement) => statement.replace(LIFE, "'life'").replaceAll(/\s+/g, ' '));
  return createHash('sha256').update(text.join('\n')).digest('base64url');
}
