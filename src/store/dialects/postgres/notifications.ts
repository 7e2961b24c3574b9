import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { SubscriptionId } from '../../../../generated/ids.js';
import { bothDue, isAnyDue, type NewlyDue, NONE_DUE } from '../../../domain/webhooks/sending/due-signal.js';
import { within } from './late-commits.js';
import type { BehindCommit } from './lent-connection.js';
import { reasonOf } from './trouble.js';

export const NOTIFICATION_LIMITS = {
  connectMs: 5_000,
  /** The limit for answers, and for the arrival of our own notifications. */
  answerMs: 3_000,
  /** Between checks that these arrive. */
  checkEveryMs: 10_000,
  /** Before the next connection. Doubled after each failure, up to `mostPauseMs`. */
  leastPauseMs: 100,
  mostPauseMs: 5_000,
  /** Before the next connection, if no notification arrived on the last. */
  unheardPauseMs: 60_000,
  /** Between two notifications of this node. Each stands for all commits since the last. */
  apartMs: 5,
};

export type NotificationLimits = typeof NOTIFICATION_LIMITS;

/** Lost: no connection, or it ended. Unheard: it is sound, and notifications do not arrive on it. */
export type Silence = 'lost' | 'unheard';

export interface NotificationOptions {
  /** The server itself or a pooler in session mode. */
  connectionString: string;
  /** Notifies over another connection, as other nodes do: a pooler passes on those of the same one. */
  notifyBy(channel: string, payload: string): Promise<unknown>;
  /** Another node has committed due deliveries. */
  onDue(due: NewlyDue): void;
  /** Other nodes notify this one, perhaps again. */
  onListening(): void;
  /** Notifications do not arrive, so this node polls. Called once for each kind until it listens again. */
  onSilence(kind: Silence, reason: string): void;
}

const CHANNEL = 'integration_deliveries_due';
const SUBSCRIPTION_ID = /^whs_[0-9A-Za-z]{22}$/;
const KEEP_ALIVE_AFTER_MS = 10_000;
const GOODBYE_MS = 1_000;

class UnheardError extends Error {}

/** Tells other nodes on one database of due deliveries, and hears them on a connection of its own. */
export class DueNotifications {
  readonly #node = randomUUID();
  readonly #echoChannel = `integration_echo_${this.#node.replaceAll('-', '_')}`;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  /** While it listens. */
  #session: Session | undefined;
  #pauseMs: number;
  #untold: NewlyDue = NONE_DUE;
  #isTelling = false;
  readonly #silences = new Set<Silence>();

  constructor(
    private readonly options: NotificationOptions,
    private readonly limits = NOTIFICATION_LIMITS,
  ) {
    this.#pauseMs = limits.leastPauseMs;
    this.#running = this.#keepListening();
  }

  /**
   * Call it at a commit, and send what it returns right behind it: other nodes hear a round trip earlier. If
   * it returns nothing, call `tell` after the commit. NOTIFY in the transaction would make all commits wait
   * for each other.
   */
  behindCommit(due: NewlyDue): BehindCommit | undefined {
    if (this.#isTelling || !this.#isListening) {
      return undefined;
    }
    this.#isTelling = true;
    void this.#pauseApart().then(() => this.#notifyNodes());
    return { text: notify(this.#node, due), onFailed: () => this.tell(due) };
  }

  /** Call it after a commit. While this node does not listen, other nodes find the deliveries by polling. */
  tell(due: NewlyDue): void {
    this.#untold = bothDue(this.#untold, due);
    if (!this.#isTelling) {
      this.#isTelling = true;
      void this.#notifyNodes();
    }
  }

  get #isListening(): boolean {
    return this.#session?.signal.aborted === false;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** One at a time, so that all commits during one share the next. */
  async #notifyNodes(): Promise<void> {
    while (isAnyDue(this.#untold) && this.#isListening) {
      const { client, end } = this.#session as Session;
      const due = this.#untold;
      this.#untold = NONE_DUE;
      try {
        await client.query(notify(this.#node, due));
      } catch (error) {
        this.#untold = bothDue(this.#untold, due);
        end(error as Error);
      }
      await this.#pauseApart();
    }
    this.#isTelling = false;
  }

  #pauseApart(): Promise<void> {
    return pause(this.limits.apartMs, undefined, { ref: false });
  }

  async #keepListening(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const error = await this.#listen().catch((error: Error) => error);
      if (signal.aborted) {
        return;
      }
      const kind = error instanceof UnheardError ? 'unheard' : 'lost';
      if (!this.#silences.has(kind)) {
        this.#silences.add(kind);
        this.options.onSilence(kind, reasonOf(error));
      }
      const { mostPauseMs, unheardPauseMs } = this.limits;
      const pauseMs = kind === 'unheard' ? unheardPauseMs : this.#pauseMs;
      this.#pauseMs = Math.min(2 * this.#pauseMs, mostPauseMs);
      // Not all nodes at once.
      await pause(pauseMs * (1 - Math.random() / 2), undefined, { signal }).catch(() => undefined);
    }
  }

  /** Returns only with an error: the end of the connection. */
  async #listen(): Promise<never> {
    const session = openSession(this.options.connectionString, this.limits);
    const { client, signal, end } = session;
    this.#closing.signal.addEventListener('abort', () => end(new Error('The service stops.')), { signal });
    client.on('notification', ({ channel, payload = '' }) => {
      const [node, ...ids] = payload.split(' ');
      if (channel === CHANNEL && node !== this.#node) {
        this.options.onDue(namedBy(ids));
      }
    });
    try {
      await until(client.connect(), signal);
      await until(client.query(`listen ${CHANNEL}; listen ${this.#echoChannel}`), signal);
      await this.#assertHeard(session, UnheardError);
      this.#session = session;
      this.#silences.clear();
      this.options.onListening();
      // For commits of which no other node has heard.
      this.tell(NONE_DUE);
      for (;;) {
        await until(pause(this.limits.checkEveryMs, undefined, { signal }), signal);
        await this.#assertHeard(session, Error);
        this.#pauseMs = this.limits.leastPauseMs;
      }
    } finally {
      this.#session = undefined;
      end(new Error('PostgreSQL ended the connection.'));
    }
  }

  /** Notifies this node itself. */
  async #assertHeard({ client, signal }: Session, Failure: new (message: string) => Error): Promise<void> {
    const { answerMs } = this.limits;
    const sound = randomUUID();
    const heard = new Promise<void>((resolve) => {
      client.on('notification', function hear({ payload }) {
        if (payload === sound) {
          client.off('notification', hear);
          resolve();
        }
      });
    });
    const sent = this.options.notifyBy(this.#echoChannel, sound);
    const notTaken = () => new Error('PostgreSQL takes no notification: timeout');
    await within(answerMs, until(sent, signal), notTaken);
    const notHeard = () => new Failure('A notification of this node did not arrive.');
    await within(answerMs, until(heard, signal), notHeard);
  }
}

/**
 * The payload is the id of the node and those of the subscriptions, if these are known; earlier releases
 * ignore the latter. Does not wait for the disk: PostgreSQL commits one notification after the other.
 */
function notify(node: string, due: NewlyDue): string {
  const payload = pg.escapeLiteral([node, ...(due ?? [])].join(' '));
  return `select set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', ${payload})`;
}

/** Earlier releases send no ids. Any user of the database can notify, so the ids may be invalid. */
function namedBy(ids: readonly string[]): NewlyDue {
  const isSound = ids.length > 0 && ids.every((id) => SUBSCRIPTION_ID.test(id));
  return isSound ? new Set(ids as SubscriptionId[]) : undefined;
}

type Session = ReturnType<typeof openSession>;

/** Its signal is aborted at the end of the connection, with the reason. */
function openSession(connectionString: string, { connectMs, answerMs }: NotificationLimits) {
  const ended = new AbortController();
  const socket = new Socket();
  const client = new pg.Client({
    ...{ connectionString, application_name: 'integration notifications', stream: () => socket },
    ...{ connectionTimeoutMillis: connectMs, query_timeout: answerMs },
    ...{ keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS },
  });
  const end = (reason: Error) => {
    if (!ended.signal.aborted) {
      ended.abort(reason);
      client.end().catch(() => undefined);
      // A server that is silent does not answer the end of the session.
      setTimeout(() => socket.destroy(), GOODBYE_MS).unref();
    }
  };
  client.on('error', end);
  client.on('end', () => end(new Error('PostgreSQL ended the connection.')));
  return { client, signal: ended.signal, end };
}

/** The work, or the reason of the signal. */
function until<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, (error: unknown) => reject(signal.aborted ? signal.reason : error));
    work.finally(() => signal.removeEventListener('abort', onAbort)).catch(() => undefined);
    if (signal.aborted) {
      onAbort();
    }
  });
}
