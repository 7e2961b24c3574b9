import { setTimeout as delay } from 'node:timers/promises';
import type BetterSqlite3 from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  SqliteQueryCompiler,
  type SqliteStatement,
} from 'kysely';
import { camelCase, camelCased } from '../database.js';
import type { Schema } from '../schema.js';
import { allowDirectStatements, EventLoopTurns } from './direct-statements.js';

export function kyselyOver(connection: BetterSqlite3.Database): Kysely<Schema> {
  const database = withKeptStatements(connection);
  const kysely = new Kysely<Schema>({ dialect: new Dialect({ database }, connection) });
  const turns = connection.readonly ? undefined : new EventLoopTurns();
  allowDirectStatements(kysely, database, turns);
  allowDirectStatements(camelCased(kysely), withKeptStatements(connection, camelCase), turns);
  return kysely;
}

/** Enables transactional DDL, which Kysely does not use on SQLite: an interrupted migration is undone. */
class Dialect extends SqliteDialect {
  constructor(
    private readonly settings: { database: SqliteDatabase },
    private readonly connection: BetterSqlite3.Database,
  ) {
    super(settings);
  }

  override createAdapter(): SqliteAdapter {
    return new Adapter();
  }

  override createDriver(): SqliteDriver {
    const { settings, connection } = this;
    return connection.readonly ? new ReadingDriver(settings, connection) : new Driver(settings, connection);
  }

  override createQueryCompiler(): SqliteQueryCompiler {
    return new Compiler();
  }
}

/**
 * SQLite plans for the value of a placeholder that stands alone behind an operator or `limit`. So it prepares
 * the statement again for a new value, which takes several times as long as a short read. It does not
 * evaluate an expression for the plan, and a sign does not change the value.
 *
 * Nor does a placeholder match a value in the condition of a partial index: write a literal there, such as
 * `status = 'PENDING'`. For `is not null`, any comparison of the column suffices.
 */
class Compiler extends SqliteQueryCompiler {
  protected override appendValue(parameter: unknown): void {
    this.append('+');
    super.appendValue(parameter);
  }
}

class Adapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Takes the lock at once, so that the second of two first starts waits. */
class Driver extends SqliteDriver {
  constructor(
    settings: { database: SqliteDatabase },
    private readonly sqlite: BetterSqlite3.Database,
  ) {
    super(settings);
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await whenNotBusy(() => connection.executeQuery(CompiledQuery.raw('begin immediate')));
  }

  /** SQLite has done it already where the disk was full; its refusal would hide that reason. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.sqlite.inTransaction) {
      await super.rollbackTransaction(connection);
    }
  }
}

/** A read is one synchronous statement and waits for no connection. Kysely's queue would be costly. */
class ReadingDriver extends Driver {
  #connection: Promise<DatabaseConnection> | undefined;

  override acquireConnection(): Promise<DatabaseConnection> {
    this.#connection ??= super.acquireConnection();
    return this.#connection;
  }

  override releaseConnection(): Promise<void> {
    return Promise.resolve();
  }
}

/** Far more than the present texts; lists of varying length make several. */
const MAX_KEPT = 500;

/** Keeps prepared statements: Kysely prepares each query again, which costs more than running it. */
function withKeptStatements(
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

const GIVE_UP_AFTER_MS = 15_000;
const MAX_PAUSE_MS = 20;

/** Waits for another writer without blocking the event loop, as SQLite would. Random pauses are fair. */
export async function whenNotBusy(begin: () => unknown): Promise<void> {
  const givesUpAt = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    try {
      await begin();
      return;
    } catch (error) {
      const busy = (error as { code?: string }).code === 'SQLITE_BUSY';
      if (!busy || performance.now() > givesUpAt) {
        throw error;
      }
    }
    await delay(Math.random() * MAX_PAUSE_MS);
  }
}
