import { Kysely, sql } from 'kysely';
import type pg from 'pg';
import type { Database, Reader, StoreWatch } from '../database.js';
import { SoundPostgresDialect } from '../dialects/postgres/driver.js';
import { NamedStatements } from '../dialects/postgres/named-statements.js';
import { openPool } from '../dialects/postgres/postgres.js';
import { isRefusedSetting, isServerRefusal } from '../dialects/postgres/trouble.js';
import type { Schema } from '../schema.js';
import { databaseReasonOf } from '../store-error.js';

const CONNECTIONS = 8;
const LIMIT_MS = 1_000;
/** For the refusal of a server that works and ends a statement at the limit. */
const REFUSAL_MS = 1_000;
const PLANS_KEPT_MS = 10_000;
const NAME = 'replica';
const POOLER = 'DATABASE_REPLICA_URL leads to a pooler; it must name the replica itself';

/** Identifies one run of one server: another start or another address gives another value. */
const RUN = `select pg_backend_pid() as pid,
  concat_ws(' ', pg_postmaster_start_time(), inet_server_addr(), inet_server_port()) as run`;

/** Why the replica cannot be read. Poolers may refuse the settings of a connection. */
export function replicaTroubleOf(error: unknown): string {
  return isRefusedSetting((error as Error).cause) ? POOLER : databaseReasonOf(error);
}

export interface ReplicaPoolOptions {
  url: string;
  /** Limits the wait for a connection, and each statement. Then the primary answers. */
  limitMs?: number;
  watch?: StoreWatch;
}

/** Read-only connections to one run of one server; it refuses others. Connects at the first read. */
export function openReplicaPool(
  { url: connectionString, limitMs = LIMIT_MS, watch }: ReplicaPoolOptions,
  onBroken: (error: Error) => void,
): Pick<Database, 'reader' | 'close'> {
  const named = new NamedStatements(PLANS_KEPT_MS);
  let run: string | undefined;
  const assertSameRun = async (client: pg.ClientBase) => {
    const { rows } = await client.query<{ pid: number; run: string }>(RUN);
    const [found] = rows;
    if (!named.noteProcess(client, found?.pid)) {
      throw new Error(POOLER);
    }
    run ??= found?.run;
    if (found?.run !== run) {
      throw new Error('the replica has restarted, or another server has its address');
    }
  };
  const settings = {
    ...{ connectionString, connectionTimeoutMillis: limitMs, max: CONNECTIONS },
    ...{ query_timeout: limitMs + REFUSAL_MS, lock_timeout: limitMs, statement_timeout: limitMs },
    options: '-c default_transaction_read_only=on',
    onConnect: assertSameRun,
  };
  const pool = openPool(settings, onBroken);
  const limits = { lockMs: limitMs, statementMs: limitMs, idleMs: limitMs };
  const use = {
    named,
    // Its reads end at the limit, and are then repeated at the primary.
    forgotten: undefined,
    isRepeatable: false,
    patience: <T>(answer: Promise<T>) => answer,
    onLent: (durationMs: number) => watch?.lent(NAME, durationMs),
  };
  return {
    reader: new Kysely<Schema>({ dialect: new SoundPostgresDialect(pool, limits, use) }),
    close: async () => {
      await (pool.ended || pool.ending || pool.end());
    },
  };
}

export const NO_REPLICA = 'DATABASE_REPLICA_URL leads to a server that is not a replica, or was promoted';

/** A replica has the system identifier of its primary, also after a promotion; the oid names the database. */
const DATABASE = sql<{ database: string }>`
  select concat_ws(' ', system_identifier, oid) as database
  from pg_control_system(), pg_database where datname = current_database()`;

/** Throws unless `replica` is a standby and a copy of the database of `primary`. */
export async function assertReplicaOf(primary: Reader, replica: Reader): Promise<void> {
  const { rows } = await sql<{ follows: boolean }>`select pg_is_in_recovery() as follows`.execute(replica);
  if (!rows[0]?.follows) {
    throw new Error(NO_REPLICA);
  }
  const [expected, found] = await Promise.all([databaseOf(primary), databaseOf(replica)]);
  if (expected !== undefined && found !== undefined && found !== expected) {
    throw new Error('DATABASE_REPLICA_URL leads to another database than DATABASE_URL');
  }
}

/** Undefined if the server refuses to tell, as some managed ones do. */
async function databaseOf(reader: Reader): Promise<string | undefined> {
  try {
    return (await DATABASE.execute(reader)).rows[0]?.database;
  } catch (error) {
    if (isServerRefusal(error)) {
      return undefined;
    }
    throw error;
  }
}
