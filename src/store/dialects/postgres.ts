import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Database } from '../database.js';
import type { Schema } from '../schema.js';
import { StoreError } from '../store-error.js';

const MAX_CONNECTIONS = 16;
const CONNECT_TIMEOUT_MS = 5_000;
/** Longer than any caller waits; it frees connections that a dead network would hold. */
const QUERY_TIMEOUT_MS = 30_000;
/** Transactions never wait for anything but SQL: one that does belongs to a process that stands still, and others wait for its locks. */
const IDLE_TRANSACTION_MS = 15_000;
const INT8_OID = 20;
const DEADLOCK_DETECTED = '40P01';
const MOST_TRIES = 5;

/** PostgreSQL commits concurrent transactions together by itself, so each write is a plain transaction here. */
export async function openPostgres(
  connectionString: string,
  onIdleError: (error: Error) => void,
): Promise<Database> {
  const pool = new pg.Pool({
    connectionString,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
  });
  pool.on('error', onIdleError);
  // While a connection is lent out the pool does not listen to it, and an error nobody hears ends the process.
  pool.on('connect', (client) => {
    client.on('error', onIdleError);
    // As a statement, because a pooler between us and PostgreSQL may refuse what it does not know when a connection begins.
    client.query(`set idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_MS}`).catch(onIdleError);
  });
  try {
    (await pool.connect()).release();
  } catch (error) {
    await pool.end();
    throw new StoreError(`PostgreSQL does not let the service in: ${reasonOf(error)}.`, { cause: error });
  }
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  return {
    reader: db,
    write: async (work, onDone) => {
      const value = await pastDeadlocks(() => db.transaction().execute(work));
      onDone?.();
      return value;
    },
    writesInOrder: false,
    migrator: db,
    close: async () => {
      await db.destroy();
      // Kysely leaves open what it never used.
      await (pool.ended ? undefined : pool.end());
    },
  };
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
      if ((error as { code?: unknown }).code !== DEADLOCK_DETECTED || tries === MOST_TRIES) {
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
