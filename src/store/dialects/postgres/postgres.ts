import { Kysely, sql } from 'kysely';
import pg from 'pg';
import { ServiceError } from '../../../errors/service-error.js';
import type { Database, StoreWatch } from '../../database.js';
import type { Schema } from '../../schema.js';
import { StoreError } from '../../store-error.js';
import { keepLateRows } from '../late-rows.js';
import { assertNotAborted, inTurns, SubjectTurns } from '../turns.js';
import { type OnClocksApart, PostgresClock } from './clock.js';
import { type ServerLimits, SoundPostgresDialect } from './driver.js';
import { disconnect, ForgottenConnections } from './forgotten-connections.js';
import { LateCommits } from './late-commits.js';
import type { Patience } from './lent-connection.js';
import { NamedStatements } from './named-statements.js';
import { whileAlive } from './signs-of-life.js';
import { inTransaction } from './transaction.js';
import {
  isDeadlock,
  isLockTimeout,
  isMendedByRepetition,
  isPassingTrouble,
  isRefusedSetting,
  isRefusedTransaction,
  reasonOf,
  repeated,
} from './trouble.js';

export interface PostgresLimits {
  server: ServerLimits;
  /** How long a connection may be waited for: a free one of the pool, or a new one to the server. */
  connectMs: number;
  /** How long we wait for the answer to a statement; 0 for as long as it takes. */
  answerMs: number;
  /** The interval of liveness checks while a statement without such a limit runs. */
  askMs: number;
  /** After this time, the server plans prepared statements anew. */
  plansKeptMs?: number;
  /** After this time a connection is replaced. */
  connectionKeptMs?: number;
  /** Of the probe and of the exchange of counts. */
  quick?: { server: ServerLimits; answerMs: number };
  /** How long a statement without other limits may wait for a lock, behind which all traffic queues. */
  longLockMs?: number;
  /** How long a transaction without other limits may wait for its client; 0 (default) for no limit. */
  longIdleMs?: number;
  /** How long a write may wait in this process for other writes about the same subject. */
  turnMs?: number;
}

/** Separate pools, so that writes that wait for locks leave connections for reads and the probe. */
const CONNECTIONS = { writes: 12, reads: 8, counts: 1, probe: 1, long: 1 };
type PoolName = keyof typeof CONNECTIONS;
/** The most connections of a domain: those of its pools, and one for notifications. */
export const MOST_CONNECTIONS = Object.values(CONNECTIONS).reduce((sum, count) => sum + count, 1);
/** How many of the connections for writes the limited tokens of one instance may use, and those of all. */
const WRITES_OF_LIMITED = { instance: 2, all: 8 };
/** Also keeps firewalls from dropping the connection during a long statement. */
const KEEP_ALIVE_AFTER_MS = 10_000;
/**
 * The server's limits end a statement and keep the connection. Ours on the answer is longer, for a frozen or
 * unreachable server, and closes it. Transactions await SQL only, so an idle one belongs to a stalled
 * process.
 */
export const SERVED_LIMITS: PostgresLimits = {
  server: { lockMs: 3_000, statementMs: 20_000, idleMs: 15_000 },
  connectMs: 5_000,
  answerMs: 25_000,
  askMs: 10_000,
  // If the process of a migration freezes, or its machine is lost, its locks stay until the server ends it.
  longIdleMs: 60_000,
};
/** For the probe and for exchanges of counts, which run one at a time; calls do not wait so long for them. */
const QUICK = { server: { lockMs: 2_000, statementMs: 2_000, idleMs: 15_000 }, answerMs: 3_000 };
/**
 * Shorter than `lockMs`: calls queue behind a migration that waits for a table. The migration gives up before
 * these calls fail, and the domain repeats it.
 */
const LONG_LOCK_MS = 2_000;
const PLANS_KEPT_MS = 10_000;
/** Otherwise a connection that reached the old primary after a fail-over would read there for ever. */
const CONNECTION_KEPT_MS = 60_000;
const INT8_OID = 20;
const MOST_TRIES = 5;

/** PostgreSQL groups commits by itself, so each write is a plain transaction. */
export async function openPostgres(
  connectionString: string,
  onIdleError: (error: Error) => void,
  limits: PostgresLimits = SERVED_LIMITS,
  watch?: StoreWatch,
  onClocksApart?: OnClocksApart,
): Promise<Database> {
  const { server, answerMs, askMs, quick = QUICK, turnMs } = limits;
  const { open, openPatient, close } = await poolsAt(connectionString, limits, onIdleError, watch);
  const turns = new SubjectTurns(turnMs);
  const ofInstance = new SubjectTurns(turnMs, WRITES_OF_LIMITED.instance);
  const ofAll = new SubjectTurns(turnMs, WRITES_OF_LIMITED.all);
  const writer = open('writes', server, answerMs);
  const prober = open('probe', quick.server, quick.answerMs);
  const clock = new PostgresClock(prober, onClocksApart);
  try {
    await clock.start();
  } catch (error) {
    await close();
    throw refusalOf(error instanceof ServiceError ? error.cause : error);
  }
  return {
    reader: open('reads', server, answerMs),
    counter: open('counts', quick.server, quick.answerMs),
    prober,
    clock: clock.now,
    patient: openPatient(prober, askMs),
    write: async (work, onDone, origin = {}) => {
      const { limitedTo, signal } = origin;
      const once = () =>
        inTurns(turns, origin, (begun) =>
          repeated(MOST_TRIES, mayRepeatWrite, async () => {
            const { done, committed } = await inTransaction(writer, async (transaction) => {
              // It may have waited for its connection.
              assertNotAborted(signal);
              begun(transaction);
              const late = keepLateRows(transaction);
              const done = await work(transaction);
              assertNotAborted(signal);
              return { done, committed: await late.write(transaction) };
            });
            committed();
            return done;
          }),
        );
      let givesUpAt: number | undefined;
      const mayBeginAnew = (error: unknown) => {
        givesUpAt ??= performance.now() + server.lockMs;
        return isLockTimeout(error) && performance.now() < givesUpAt;
      };
      // Each time with new turns, so that others get what this write had locked.
      const untilDone = () => repeated(Number.POSITIVE_INFINITY, mayBeginAnew, once);
      const value = await (limitedTo === undefined
        ? once()
        : ofInstance.within(limitedTo, signal, () => ofAll.within('all', signal, untilDone)));
      onDone?.();
      return value;
    },
    tryWrite: () =>
      inTransaction(prober, async (transaction) => {
        // Committed without a replica: while none confirms, the domain is to serve reads.
        const writing = transaction
          .updateTable('environment')
          .set(({ ref }) => ({ created_at: ref('created_at') }))
          .where(sql<boolean>`set_config('synchronous_commit', 'local', true) is not null`)
          .execute();
        // Not waited for before the commit, which fails with it: a process that freezes in between would
        // leave a lock for which those of all other nodes wait.
        writing.catch(() => undefined);
      }),
    size: async () => undefined,
    writesInOrder: false,
    close: () => {
      clock.stop();
      return close();
    },
  };
}

/** Read-only, without a time limit. */
export async function openPostgresReader(
  connectionString: string,
): Promise<Pick<Database, 'reader' | 'close'>> {
  // The transaction of a backup waits for pg_dump.
  const limits = { ...SERVED_LIMITS, longIdleMs: 0 };
  const { open, openPatient, close } = await poolsAt(connectionString, limits, () => undefined);
  return {
    reader: openPatient(open('probe', QUICK.server, QUICK.answerMs), SERVED_LIMITS.askMs),
    close,
  };
}

async function poolsAt(
  connectionString: string,
  {
    connectMs,
    answerMs,
    plansKeptMs = PLANS_KEPT_MS,
    connectionKeptMs = CONNECTION_KEPT_MS,
    longLockMs = LONG_LOCK_MS,
    longIdleMs = 0,
  }: PostgresLimits,
  onIdleError: (error: Error) => void,
  watch?: StoreWatch,
) {
  const takesSettings = await takesSettingsAtStart(connectionString, connectMs);
  const pools: pg.Pool[] = [];
  const reading = new Set<pg.PoolClient>();
  const closing = new AbortController();
  const lateCommits = new LateCommits(answerMs);
  const named = new NamedStatements(plansKeptMs);
  const isDirect = (client: pg.ClientBase) => named.isDirect(client);
  const forgotten = new ForgottenConnections(connectionString, isDirect, onIdleError);
  const open = (
    name: PoolName,
    limits: ServerLimits,
    answerMs?: number,
    patience: Patience = (answer) => answer,
  ) => {
    const settings = {
      ...{ connectionString, connectionTimeoutMillis: connectMs, max: CONNECTIONS[name] },
      query_timeout: answerMs,
      maxLifetimeSeconds: connectionKeptMs / 1_000,
      onConnect: async (client: pg.ClientBase) => {
        await named.noteWhetherDirect(client, connectMs);
        forgotten.opened(client);
      },
    };
    const pool = openPool({ ...settings, ...(takesSettings && settingsAtStart(limits)) }, onIdleError);
    pools.push(pool);
    if (name === 'reads') {
      pool.on('acquire', (client) => reading.add(client));
      pool.on('release', (_, client) => reading.delete(client));
    }
    const onLent = (durationMs: number) => watch?.lent(name, durationMs);
    const use = {
      ...{ named, forgotten, isRepeatable: name === 'reads', patience, onLent },
      // The probe has one connection, and its lock keeps out the next probe. Without a limit, none is late.
      ...(name === 'writes' && answerMs && { lateCommits }),
    };
    return new Kysely<Schema>({ dialect: new SoundPostgresDialect(pool, limits, use) });
  };
  return {
    open,
    /** A pool of one connection for long statements, with liveness checks over the other pool. */
    openPatient: (asking: Kysely<Schema>, askMs: number) =>
      open(
        'long',
        { lockMs: longLockMs, statementMs: 0, idleMs: longIdleMs },
        undefined,
        whileAlive(() => sql`select`.execute(asking), askMs, closing.signal),
      ),
    close: async () => {
      closing.abort(new Error('the database is being closed'));
      forgotten.close();
      const ended = Promise.all(pools.map((pool) => pool.ended || pool.ending || pool.end()));
      // Calls have ended by now: the other reads are searches, of which one may take as long as the limit.
      reading.forEach(disconnect);
      lateCommits.close();
      await ended;
    },
  };
}

/** For reads, which have no transaction. At connection start: later settings would leak behind a pooler. */
function settingsAtStart({ lockMs, statementMs }: ServerLimits): pg.ClientConfig {
  // As text: pg does not send the number 0, and a limit of the role would hold.
  const settings = { lock_timeout: `${lockMs}`, statement_timeout: `${statementMs}` };
  return settings as unknown as pg.ClientConfig;
}

/** A pooler may refuse settings at connection start. Then only our own limit on answers applies. */
async function takesSettingsAtStart(connectionString: string, connectMs: number): Promise<boolean> {
  const begin = async (settings: object) => {
    const client = new pg.Client({
      ...{ connectionString, connectionTimeoutMillis: connectMs, query_timeout: connectMs },
      ...settings,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      // As two questions: a pooler in statement mode allows both in one.
      await client.query('begin');
      await client.query('rollback');
    } finally {
      client.end().catch(() => undefined);
    }
  };
  try {
    await begin(settingsAtStart(QUICK.server));
    return true;
  } catch (error) {
    if (!isRefusedSetting(error) || isRefusedTransaction(error)) {
      throw refusalOf(error);
    }
  }
  await begin({}).catch((error: unknown) => {
    throw refusalOf(error);
  });
  return false;
}

/**
 * New connections are tested in `onConnect`. A test in `verify` would lose connections: the pool hands them
 * to callers that have stopped waiting during the test, and they never return.
 */
export function openPool(settings: pg.PoolConfig, onIdleError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    ...settings,
    // Statements are sent without a wait for earlier answers.
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
  });
  pool.on('error', onIdleError);
  // The pool does not listen to a connection in use, and an unhandled error event ends the process.
  pool.on('connect', (client) => client.on('error', onIdleError));
  return pool;
}

function refusalOf(error: unknown): StoreError {
  if (isRefusedTransaction(error)) {
    return new StoreError(
      'DATABASE_URL leads to a pooler in statement mode, which has no transactions. Set its pool_mode to transaction or session.',
      { cause: error },
    );
  }
  return new StoreError(`The service cannot connect to PostgreSQL: ${reasonOf(error)}.`, {
    cause: error,
    mayPass: isPassingTrouble(error),
  });
}

/**
 * PostgreSQL ended the write to resolve a deadlock, or refused it because it no longer has the statement.
 * Most writes lock in a fixed order, but a statement for several rows locks them in the order of its plan.
 */
function mayRepeatWrite(error: unknown): boolean {
  return isDeadlock(error) || isMendedByRepetition(error);
}

/** Times and counts are int8 and safe integers; pg would return text. */
function parserOf(oid: number, format?: 'text' | 'binary') {
  return oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format as 'text');
}
