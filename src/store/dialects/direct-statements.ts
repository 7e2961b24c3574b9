import type { CompiledQuery, QueryResult, SqliteDatabase } from 'kysely';
import type { Rows, Writer } from '../database.js';
import { type BehindCommit, LentConnection } from './postgres/lent-connection.js';

const databases = new WeakMap<Writer | Rows, { database: SqliteDatabase; turns?: EventLoopTurns }>();

/** Runs compiled statements directly on SQLite: Kysely's path costs as much as a small statement. */
export function allowDirectStatements(
  kysely: Writer | Rows,
  database: SqliteDatabase,
  turns?: EventLoopTurns,
): void {
  databases.set(kysely, { database, turns });
}

/** A statement of SQLite blocks the event loop: a write of thousands would keep all other work waiting. */
const LONGEST_TURN_MS = 20;

/** Ends a turn of the event loop in which the statements of a connection have taken long. */
export class EventLoopTurns {
  #beganAt: number | undefined;
  #works = 0;

  /** Undefined while the turn goes on. */
  next(): Promise<void> | undefined {
    if (this.#beganAt === undefined) {
      this.#beganAt = performance.now();
      setImmediate(() => {
        this.#beganAt = undefined;
      });
      return undefined;
    }
    return performance.now() - this.#beganAt > LONGEST_TURN_MS ? this.#wait() : undefined;
  }

  endWork(): void {
    this.#works += 1;
  }

  /** The statement must not become one of the next work. */
  async #wait(): Promise<void> {
    const work = this.#works;
    await new Promise(setImmediate);
    if (work !== this.#works) {
      throw new Error('The transaction of this statement is over.');
    }
  }
}

/** Refuses statements of a work that wait for a turn when the work ends, because another one has failed. */
export function refuseWaiting(writer: Writer): void {
  databases.get(writer)?.turns?.endWork();
}

/** Runs a compiled statement on either database. */
export async function executeCompiled<Row>(
  db: Writer | Rows,
  compiled: CompiledQuery<Row>,
  parameters: readonly unknown[],
): Promise<QueryResult<Row>> {
  const direct = databases.get(db);
  if (direct === undefined) {
    return db.executeQuery<Row>({ ...compiled, parameters });
  }
  const nextTurn = direct.turns?.next();
  if (nextTurn) {
    await nextTurn;
  }
  const statement = direct.database.prepare(compiled.sql);
  if (statement.reader) {
    return { rows: statement.all(parameters) as Row[] };
  }
  return { rows: [], numAffectedRows: BigInt(statement.run(parameters).changes) };
}

/**
 * The same for a statement whose answer is not needed. In a transaction on PostgreSQL nothing waits for it:
 * its error comes with the answer to a later statement, or instead of the commit.
 */
export async function postCompiled(
  db: Writer | Rows,
  compiled: CompiledQuery,
  parameters: readonly unknown[],
): Promise<void> {
  if (databases.has(db)) {
    await executeCompiled(db, compiled, parameters);
    return;
  }
  const query = { ...compiled, parameters };
  await db
    .getExecutor()
    .provideConnection<unknown>((connection) =>
      connection instanceof LentConnection ? connection.post(query) : connection.executeQuery(query),
    );
}

/**
 * On PostgreSQL, sends a statement right behind the commit of this transaction. `next` is asked at the
 * commit, if the connection leads to the server itself.
 */
export async function sendBehindCommit(
  transaction: Writer,
  next: () => BehindCommit | undefined,
): Promise<void> {
  if (!databases.has(transaction)) {
    await transaction.getExecutor().provideConnection(async (connection) => {
      if (connection instanceof LentConnection) {
        connection.sendBehindCommit(next);
      }
    });
  }
}
