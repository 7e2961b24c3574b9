import { type Driver, type PostgresAdapter, PostgresDialect, type TransactionSettings } from 'kysely';
import type pg from 'pg';
import { discard } from './forgotten-connections.js';
import { beginAt, LentConnection, type PoolUse } from './lent-connection.js';
import { SoundAdapter } from './migration-lock.js';
import { asNoConnection } from './trouble.js';

/** Enforced by the server, in milliseconds; 0 means none. */
export interface ServerLimits {
  lockMs: number;
  statementMs: number;
  /** For a transaction that waits for its client. */
  idleMs: number;
}

/** Per pool. A token request reads up to five rows at once, and an edge has 128 requests under way. */
const MOST_WAITING = 1_024;

/**
 * Kysely's dialect with another driver. Kysely returns every connection to the pool, even with an open
 * transaction after a failed end, which the next write would commit. Ours returns one only after the server
 * confirmed the end.
 */
export class SoundPostgresDialect extends PostgresDialect {
  constructor(
    private readonly pool: pg.Pool,
    private readonly limits: ServerLimits,
    private readonly use: PoolUse,
  ) {
    super({ pool });
  }

  override createDriver(): Driver {
    return new SoundDriver(this.pool, this.limits, this.use);
  }

  override createAdapter(): PostgresAdapter {
    return new SoundAdapter();
  }
}

class SoundDriver implements Driver {
  readonly #begin: readonly string[];

  constructor(
    private readonly pool: pg.Pool,
    limits: ServerLimits,
    private readonly use: PoolUse,
  ) {
    // Sent with `begin`, so no extra round trip. Local to the transaction: behind a pooler, session settings
    // may be on another connection.
    this.#begin = [beginAt(), ...settingsOf(limits)];
  }

  init(): Promise<void> {
    return Promise.resolve();
  }

  async acquireConnection(): Promise<LentConnection> {
    return new LentConnection(await this.#lend(), this.#begin, this.use, () => this.#lend());
  }

  async #lend(): Promise<pg.PoolClient> {
    const { named, forgotten, onLent } = this.use;
    if (this.pool.waitingCount >= MOST_WAITING) {
      throw asNoConnection(new Error(`${MOST_WAITING} others wait for a connection`));
    }
    const askedAt = performance.now();
    try {
      let client = await this.pool.connect();
      while (forgotten?.isSuspect(client)) {
        discard(client);
        client = await this.pool.connect();
      }
      named.renewPlans(client);
      return client;
    } catch (error) {
      throw asNoConnection(error);
    } finally {
      onLent(performance.now() - askedAt);
    }
  }

  beginTransaction(connection: LentConnection, { isolationLevel }: TransactionSettings): Promise<void> {
    return connection.begin(isolationLevel);
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

/**
 * Otherwise a long statement of a killed client keeps its locks until it ends. Servers before release 14, and
 * those of some systems, refuse the setting.
 */
const ENDS_WITH_CLIENT = `do $$ begin
  perform set_config('client_connection_check_interval', '2s', true);
exception when others then null;
end $$`;

function settingsOf({ lockMs, statementMs, idleMs }: ServerLimits): string[] {
  return [
    `set local lock_timeout = ${lockMs}`,
    `set local statement_timeout = ${statementMs}`,
    `set local idle_in_transaction_session_timeout = ${idleMs}`,
    ...(statementMs === 0 ? [ENDS_WITH_CLIENT] : []),
  ];
}
