import { Kysely, sql } from 'kysely';
import pg from 'pg';
import type { Database } from '../database.js';
import type { Schema } from '../schema.js';
import { StoreError } from '../store-error.js';
import { type Patience, type ServerLimits, SoundPostgresDialect } from './postgres-driver.js';
import { isDeadlock, isPassingTrouble, isRefusedSetting } from './postgres-trouble.js';
import { whileAlive } from './signs-of-life.js';
import { assertAsked, inTurns, Turns } from './turns.js';

export interface PostgresLimits {
  server: ServerLimits;
  /** How long we wait for the answer to one statement. */
  answerMs: number;
  /** While a statement runs that has no such limit, the server is asked so often whether it is there. */
  askMs: number;
}

/** Apart, so that writes that wait for one another leave the reads and the probe their connections. */
const CONNECTIONS = { writes: 12, reads: 8, probe: 1, migrations: 1 };
const CONNECT_TIMEOUT_MS = 5_000;
/** Also keeps a firewall from forgetting a connection on which a statement takes long. */
const KEEP_ALIVE_AFTER_MS = 10_000;
/**
 * The server's limits end a statement while the connection stays whole. Ours on the answer is longer and for a server that is frozen or cut
 * off: it closes the connection. Transactions never wait for anything but SQL: one that idles belongs to a process that stands still.
 */
const LIMITS: PostgresLimits = {
  server: { lockMs: 3_000, statementMs: 20_000, idleMs: 15_000 },
  answerMs: 25_000,
  askMs: 10_000,
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
  { server, answerMs, askMs }: PostgresLimits = LIMITS,
): Promise<Database> {
  const { open, openPatient, close } = await poolsAt(connectionString, onIdleError);
  const turns = new Turns();
  const writer = open(CONNECTIONS.writes, server, answerMs);
  const prober = open(CONNECTIONS.probe, PROBE_LIMITS, PROBE_TIMEOUT_MS);
  return {
    reader: open(CONNECTIONS.reads, server, answerMs),
    prober,
    migrator: openPatient(prober, askMs),
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
  const { open, openPatient, close } = await poolsAt(connectionString, () => undefined);
  return {
    reader: openPatient(open(CONNECTIONS.probe, PROBE_LIMITS, PROBE_TIMEOUT_MS), LIMITS.askMs),
    close,
  };
}

async function poolsAt(connectionString: string, onIdleError: (error: Error) => void) {
  const takesSettings = await takesSettingsAtStart(connectionString);
  const pools: pg.Pool[] = [];
  const open = (max: number, limits: ServerLimits, answerMs?: number, patience?: Patience) => {
    const settings = { connectionString, max, query_timeout: answerMs };
    const pool = openPool({ ...settings, ...(takesSettings && settingsAtStart(limits)) }, onIdleError);
    pools.push(pool);
    return new Kysely<Schema>({ dialect: new SoundPostgresDialect(pool, limits, patience) });
  };
  return {
    open,
    /** Of one connection, on which a statement may take as long as the other pool is answered. */
    openPatient: (asking: Kysely<Schema>, askMs: number) =>
      open(
        CONNECTIONS.migrations,
        MIGRATION_LIMITS,
        undefined,
        whileAlive(() => sql`select`.execute(asking), askMs),
      ),
    close: async () => {
      await Promise.all(pools.map((pool) => pool.ended || pool.ending || pool.end()));
    },
  };
}

/**
 * For reads, which have no transaction to set limits in. Given when the connection begins and never later: behind a pooler in transaction mode a later setting would stay with
 * PostgreSQL's connection, and be that of the next client, whoever that is.
 */
function settingsAtStart({ lockMs, statementMs }: ServerLimits) {
  return { lock_timeout: lockMs, statement_timeout: statementMs };
}

/** A pooler may refuse what it does not know when a connection begins. Then our own limit on the answer is the only one that reads have. */
async function takesSettingsAtStart(connectionString: string): Promise<boolean> {
  const begin = async (settings: object) => {
    const client = new pg.Client({
      ...{ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS },
      ...settings,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } finally {
      client.end().catch(() => undefined);
    }
  };
  try {
    await begin(settingsAtStart(PROBE_LIMITS));
    return true;
  } catch (error) {
    if (!isRefusedSetting(error)) {
      throw refusalOf(error);
    }
  }
  await begin({}).catch((error: unknown) => {
    throw refusalOf(error);
  });
  return false;
}

function openPool(settings: pg.PoolConfig, onIdleError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    ...settings,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
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
