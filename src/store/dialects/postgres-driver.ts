import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresDialect,
  type QueryResult,
} from 'kysely';
import type pg from 'pg';
import { asDatabaseTrouble, asNoConnection, asUnknownOutcome, isServerRefusal } from './postgres-trouble.js';

/** Enforced by the server, in milliseconds; 0 means none. */
export interface ServerLimits {
  lockMs: number;
  statementMs: number;
  /** For a transaction that waits for its client. */
  idleMs: number;
}

/**
 * Kysely's dialect with another driver. Kysely returns every connection to the pool, even with an open
 * transaction after a failed end, which the next write would commit. Ours returns one only after the server
 * confirmed the end.
 */
export class SoundPostgresDialect extends PostgresDialect {
  constructor(
    private readonly pool: pg.Pool,
    private readonly limits: ServerLimits,
    private readonly patience: Patience = (answer) => answer,
    private readonly onLent: (durationMs: number) => void = () => undefined,
  ) {
    super({ pool });
  }

  override createDriver(): Driver {
    return new SoundDriver(this.pool, this.limits, this.patience, this.onLent);
  }
}

/** Stops waiting for an answer; the pool's own limit is a fixed time. */
export type Patience = <T>(answer: Promise<T>) => Promise<T>;

/** Per pool. */
const MOST_WAITING = 512;

class SoundDriver implements Driver {
  readonly #begin: string;

  constructor(
    private readonly pool: pg.Pool,
    limits: ServerLimits,
    private readonly patience: Patience,
    private readonly onLent: (durationMs: number) => void,
  ) {
    // In one message with `begin`, so no extra round trip. Local to the transaction: behind a pooler,
    // session settings may be on another connection.
    this.#begin = `begin; ${settingsOf(limits)}`;
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  async acquireConnection(): Promise<LentConnection> {
    if (this.pool.waitingCount >= MOST_WAITING) {
      throw asNoConnection(new Error(`${MOST_WAITING} others wait for a connection`));
    }
    const askedAt = performance.now();
    try {
      return new LentConnection(await this.pool.connect(), this.patience);
    } catch (error) {
      throw asNoConnection(error);
    } finally {
      this.onLent(performance.now() - askedAt);
    }
  }

  beginTransaction(connection: LentConnection): Promise<void> {
    return connection.begin(this.#begin);
  }

  commitTransaction(connection: LentConnection): Promise<void> {
    return connection.commit();
  }

  rollbackTransaction(connection: LentConnection): Promise<void> {
    return connection.rollback();
  }

  releaseConnection(connection: LentConnection): Promise<void> {
    connection.release();
    return Promise.resolve();
  }

  async destroy(): Promise<void> {
    await (this.pool.ending ? undefined : this.pool.end());
  }
}

const CHANGING = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/** One use of a connection. */
class LentConnection implements DatabaseConnection {
  /** From before `begin` is sent until the server confirmed the end of the transaction. */
  #mayBeInTransaction = false;
  /** After a fault the state of the connection is unknown, such as a statement that is still running. */
  #fault: unknown;

  constructor(
    private readonly client: pg.PoolClient,
    private readonly patience: Patience,
  ) {}

  async executeQuery<Row>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    try {
      const { command, rowCount, rows } = await this.#ask(() => this.client.query(text, [...parameters]));
      const numAffectedRows = CHANGING.has(command) ? BigInt(rowCount ?? 0) : undefined;
      return { numAffectedRows, rows: rows as Row[] };
    } catch (error) {
      throw asDatabaseTrouble(error);
    }
  }

  // biome-ignore lint/correctness/useYield: an interface of Kysely that nothing here uses.
  async *streamQuery<Row>(): AsyncGenerator<QueryResult<Row>> {
    throw new Error('This driver streams no rows.');
  }

  async begin(text: string): Promise<void> {
    this.#mayBeInTransaction = true;
    try {
      await this.#ask(() => this.client.query(text));
    } catch (error) {
      throw asDatabaseTrouble(error);
    }
  }

  async commit(): Promise<void> {
    let command: string;
    try {
      ({ command } = await this.#ask(() => this.client.query('commit')));
    } catch (error) {
      throw isServerRefusal(error) ? asDatabaseTrouble(error) : asUnknownOutcome(error);
    }
    this.#mayBeInTransaction = false;
    // The server's answer to COMMIT after a failed statement, which is not an error.
    if (command !== 'COMMIT') {
      throw new Error(`PostgreSQL answered a commit with ${command}: a statement had failed before.`);
    }
  }

  /** If it fails, the transaction ends with its connection, and the caller gets the original error. */
  async rollback(): Promise<void> {
    if (this.#fault === undefined && this.#mayBeInTransaction) {
      await this.#ask(() => this.client.query('rollback')).then(
        () => {
          this.#mayBeInTransaction = false;
        },
        (error: unknown) => {
          this.#fault ??= error;
        },
      );
    }
  }

  release(): void {
    const isIdle = !this.#mayBeInTransaction && this.client.getTransactionStatus() === 'I';
    if (this.#fault === undefined && isIdle) {
      this.client.release();
    } else {
      // Closes the connection: the server rolls back.
      this.client.release(true);
    }
  }

  async #ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    try {
      return await this.patience(question());
    } catch (error) {
      if (!isServerRefusal(error)) {
        this.#fault ??= error;
      }
      throw error;
    }
  }
}

function settingsOf({ lockMs, statementMs, idleMs }: ServerLimits): string {
  return [
    `set local lock_timeout = ${lockMs}`,
    `set local statement_timeout = ${statementMs}`,
    `set local idle_in_transaction_session_timeout = ${idleMs}`,
  ].join('; ');
}
