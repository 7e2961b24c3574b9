import type { Socket } from 'node:net';
import pg from 'pg';
import { isLostConnection } from './trouble.js';

/** A statement without an answer for this long is asked about. */
const SILENT_MS = 1_500;
const LOOK_EVERY_MS = 500;
/** A server or network slower than this cannot tell whether a statement is lost or late. */
const LOOK_LIMIT_MS = 1_000;

/**
 * Processes that may still answer, or whose answer may be on its way, such as one that TCP has to send again.
 * The state is unknown where the server does not track it.
 */
const AT_WORK = `
  select pid from pg_stat_activity
  where pid = any($1)
    and (state is null or state not like 'idle%' or state_change > now() - $2 * interval '1 millisecond')`;

type Connection = pg.ClientBase & { processID?: number };

/** What one connection was last heard of, and waits for. */
interface Heard {
  /** When it last heard of the server, or sent a statement after it had the answers to all others. */
  at: number;
  /** Received until then. */
  bytes: number;
  unanswered: number;
}

/**
 * Finds connections that the network between us and the server has forgotten: what is sent on them is lost,
 * and neither end is told. Only for connections that lead to the process of the server whose number they
 * know.
 */
export class ForgottenConnections {
  readonly #heard = new WeakMap<Connection, Heard>();
  readonly #waiting = new Set<Connection>();
  readonly #timer: NodeJS.Timeout;
  #isLooking = false;
  /** Connections that were last heard before this may be forgotten, too. */
  #suspectBefore = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly connectionString: string,
    private readonly isDirect: (connection: Connection) => boolean,
    private readonly onFound: (error: Error) => void,
  ) {
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  opened(connection: Connection): void {
    this.#heard.set(connection, { at: performance.now(), bytes: bytesFrom(connection), unanswered: 0 });
  }

  /** Waits for the answer, of which the caller hears by itself. */
  async during<Answer>(connection: Connection, answer: Promise<Answer>): Promise<Answer> {
    const heard = this.#heard.get(connection);
    if (heard === undefined) {
      return await answer;
    }
    if (heard.unanswered === 0) {
      heard.at = performance.now();
      heard.bytes = bytesFrom(connection);
      this.#waiting.add(connection);
    }
    heard.unanswered += 1;
    const { at } = heard;
    try {
      return await answer;
    } catch (error) {
      // It ended without a message from the server: the network may have forgotten older connections too.
      if (!(error instanceof pg.DatabaseError) && isLostConnection(error)) {
        this.#suspectBefore = Math.max(this.#suspectBefore, at);
      }
      throw error;
    } finally {
      heard.at = performance.now();
      heard.unanswered -= 1;
      if (heard.unanswered === 0) {
        this.#waiting.delete(connection);
      }
    }
  }

  /** Whether its last answer is older than that of a connection that the server had forgotten. */
  isSuspect(connection: Connection): boolean {
    const heard = this.#heard.get(connection);
    return heard !== undefined && heard.at < this.#suspectBefore && this.isDirect(connection);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const silent = this.#silent();
    if (silent.length === 0 || this.#isLooking) {
      return;
    }
    this.#isLooking = true;
    try {
      const atWork = await this.#atWork(silent.map(({ connection }) => connection.processID ?? 0));
      const forgotten = silent.filter(
        ({ connection, since }) => !atWork.has(connection.processID) && this.#lastHeard(connection) === since,
      );
      for (const { connection, since } of forgotten) {
        this.#suspectBefore = Math.max(this.#suspectBefore, since);
        disconnect(connection);
      }
      if (forgotten.length > 0) {
        this.onFound(
          new Error(`${forgotten.length} in use no longer reach the server, which waits for statements`),
        );
      }
    } catch {
      // The server does not answer at all: other limits end the wait.
    } finally {
      this.#isLooking = false;
    }
  }

  #silent() {
    const before = performance.now() - SILENT_MS;
    return [...this.#waiting].flatMap((connection) => {
      const since = this.#lastHeard(connection);
      return since < before && this.isDirect(connection) ? [{ connection, since }] : [];
    });
  }

  /** A large answer takes its time, and the server is idle before the last of it arrives. */
  #lastHeard(connection: Connection): number {
    const heard = this.#heard.get(connection) as Heard;
    const bytes = bytesFrom(connection);
    if (heard.bytes !== bytes) {
      heard.at = performance.now();
      heard.bytes = bytes;
    }
    return heard.at;
  }

  /** Over a new connection, because present ones may be forgotten. */
  async #atWork(processes: readonly number[]): Promise<Set<unknown>> {
    const { connectionString } = this;
    const limits = { connectionTimeoutMillis: LOOK_LIMIT_MS, query_timeout: LOOK_LIMIT_MS };
    const client = new pg.Client({ connectionString, ...limits });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number }>(AT_WORK, [processes, SILENT_MS]);
      return new Set(rows.map(({ pid }) => pid));
    } finally {
      disconnect(client);
    }
  }
}

function bytesFrom(connection: pg.ClientBase): number {
  return streamOf(connection).bytesRead;
}

/** At once: pg would wait for answers that may never come. */
export function disconnect(connection: pg.ClientBase): void {
  streamOf(connection).destroy();
}

/** Closes the connection, so that the server rolls back its transaction. */
export function discard(client: pg.PoolClient): void {
  disconnect(client);
  client.release(true);
}

function streamOf(connection: pg.ClientBase): Socket {
  return (connection as unknown as { connection: { stream: Socket } }).connection.stream;
}
