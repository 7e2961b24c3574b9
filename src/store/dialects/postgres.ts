import { Kysely } from 'kysely';
import pg from 'pg';
import type { Database } from '../database.js';
import type { Schema } from '../schema.js';
import { StoreError } from '../store-error.js';
import { type ServerLimits, SoundPostgresDialect, settingsOf } from './postgres-driver.js';
import { isDeadlock, isPassingTrouble } from './postgres-trouble.js';
import { assertAsked, inTurns, Turns } from './turns.js';

export interface PostgresLimits {
  server: ServerLimits;
  /** How long we wait for the answer to one statement. */
  answerMs: number;
}

/** Apart, so that writes that wait for one another leave the reads and the probe their connections. */
const CONNECTIONS = { writes: 12, reads: 8, probe: 1, migrations: 1 };
const CONNECT_TIMEOUT_MS = 5_000;
/**
 * The server's limits end a statement while the connection stays whole. Ours on the answer is longer and for a server that is frozen or cut
 * off: it closes the connection. Transactions never wait for anything but SQL: one that idles belongs to a process that stands still.
 */
const LIMITS: PostgresLimits = {
  server: { lockMs: 3_000, statementMs: 20_000, idleMs: 15_000 },
  answerMs: 25_000,
};
const PROBE_LIMITS: ServerLimits = { lockMs: 2_000, statementMs: 2_000, idleMs: 15_000 };
const PROBE_TIMEOUT_MS = 3_000;
/** A migration may take as long as it needs, but all traffic queues behind a lock that it waits for. */
const MIGRATION_LIMITS: ServerLimits = { lockMs: 5_000, statementMs: 0, idleMs: 0 };
const INT8_OID = 20;
const MOST_TRIES = 5;

/** PostgreSQL commits concurrent transactions together by itself, so each write is a plain transaction here. */
export async function openPostgres(
  connectionString: string,
  onIdleError: (error: Error) => void,
  { server, answerMs }: PostgresLimits = LIMITS,
): Promise<Database> {
  const pools: pg.Pool[] = [];
  const open = (max: number, limits: ServerLimits, answerMs?: number) => {
    const pool = openPool({ connectionString, max, query_timeout: answerMs }, limits, onIdleError);
    pools.push(pool);
    return new Kysely<Schema>({ dialect: new SoundPostgresDialect(pool, limits) });
  };
  const close = async () => {
    await Promise.all(pools.map((pool) => pool.ended || pool.ending || pool.end()));
  };
  const turns = new Turns();
  const writer = open(CONNECTIONS.writes, server, answerMs);
  try {
    await writer.connection().execute(async () => undefined);
  } catch (error) {
    await close();
    throw refusalOf((error as Error).cause ?? error);
  }
  return {
    reader: open(CONNECTIONS.reads, server, answerMs),
    prober: open(CONNECTIONS.probe, PROBE_LIMITS, PROBE_TIMEOUT_MS),
    migrator: open(CONNECTIONS.migrations, MIGRATION_LIMITS),
    write: async (work, onDone, origin = {}) => {
      const value = await inTurns(turns, origin, (begun) =>
        pastDeadlocks(() =>
          writer.transaction().execute(async (transaction) => {
            // It may have waited for its connection.
            assertAsked(origin.signal);
            begun(transaction);
            const done = await work(transaction);
            assertAsked(origin.signal);
            return done;
          }),
        ),
      );
      onDone?.();
      return value;
    },
    writesInOrder: false,
    close,
  };
}

/** For looking only, however long that takes. */
export async function openPostgresReader(
  connectionString: string,
): Promise<Pick<Database, 'reader' | 'close'>> {
  const pool = openPool({ connectionString, max: 1 }, MIGRATION_LIMITS, () => undefined);
  const reader = new Kysely<Schema>({ dialect: new SoundPostgresDialect(pool, MIGRATION_LIMITS) });
  const close = async () => {
    await pool.end();
  };
  try {
    await reader.connection().execute(async () => undefined);
  } catch (error) {
    await close();
    throw refusalOf((error as Error).cause ?? error);
  }
  return { reader, close };
}

function openPool(
  settings: Pick<pg.PoolConfig, 'connectionString' | 'max' | 'query_timeout'>,
  limits: ServerLimits,
  onIdleError: (error: Error) => void,
): pg.Pool {
  const sessionSettings = { text: settingsOf('set', limits), query_timeout: CONNECT_TIMEOUT_MS };
  const pool = new pg.Pool({
    ...settings,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
    // For reads, which have no transaction to set limits in. As a statement, because a pooler between us and PostgreSQL may refuse what it does not
    // know when a connection begins.
    onConnect: (client) => client.query(sessionSettings),
  });
  pool.on('error', onIdleError);
  // While a connection is lent out the pool does not listen to it, and an error nobody hears ends the process.
  pool.on('connect', (client) => client.on('error', onIdleError));
  return pool;
}

function refusalOf(error: unknown): StoreError {
  return new StoreError(`PostgreSQL does not let the service in: ${reasonOf(error)}.`, {
    cause: error,
    mayPass: isPassingTrouble(error),
  });
}

/**
 * Of writes that wait for one another in a circle, PostgreSQL ends one, as if it had never begun: that one is made again. Writes take their locks in
 * an order where they can, but one that tells of events on several instances learns only as it goes which subscriptions those have.
 */
async function pastDeadlocks<T>(write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isDeadlock(error) || tries === MOST_TRIES) {
        throw error;
      }
    }
  }
}

/** Where a name has several addresses, the reasons are those of each, and the error that holds them says nothing. */
function reasonOf(error: unknown): string {
  const { errors, message } = error as AggregateError;
  return message || errors?.map((one: Error) => one.message).join(', ') || 'it gave no reason';
}

/** Times and counts are int8, and all of ours are safe integers; pg would hand them over as text. */
function parserOf(oid: number, format?: 'text' | 'binary') {
  return oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format as 'text');
}
