import type { Socket } from 'node:net';
import { Client } from 'undici';
import { AttemptFault } from './attempt.js';
import { Dial, type DialOptions } from './dial.js';

/** Shorter than most receivers' limits: a close during a send costs an attempt. Their own limit wins. */
const IDLE_MS = 1_500;
const LONGEST_IDLE_MS = 60_000;
/** After it, a new connection finds a receiver that has moved. */
const LONGEST_LIFE_MS = 300_000;
const MAX_HEADER_BYTES = 16_384;
const MOST_IDLE = 512;

const CLIENT_OPTIONS = {
  pipelining: 1,
  maxHeaderSize: MAX_HEADER_BYTES,
  keepAliveTimeout: IDLE_MS,
  keepAliveMaxTimeout: LONGEST_IDLE_MS,
  // The caller has one deadline for the whole exchange.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** A connection to a receiver, for one exchange at a time. */
export class Connection {
  readonly client: Client;
  readonly #dial: Dial;
  readonly #openedAt = performance.now();
  #socket: Socket | undefined;
  #wasDialled = false;
  #mostBytes = Number.POSITIVE_INFINITY;

  constructor(
    readonly origin: URL,
    options: DialOptions,
    onGone: (connection: Connection) => void,
  ) {
    this.#dial = new Dial(origin, options);
    this.client = new Client(origin, {
      ...CLIENT_OPTIONS,
      connect: (_, done) => {
        this.#open().then(
          (socket) => done(null, socket),
          (error: Error) => done(error, null),
        );
      },
    });
    this.client.on('disconnect', () => onGone(this));
  }

  get phase() {
    return this.#dial.phase;
  }

  /** From now on, the receiver may send so many bytes, those outside any answer included. */
  allow(bytes: number): void {
    this.#mostBytes = this.#dial.bytesRead + bytes;
  }

  get hasSentTooMuch(): boolean {
    return this.#dial.bytesRead > this.#mostBytes;
  }

  get isUsable(): boolean {
    const isFresh = performance.now() - this.#openedAt < LONGEST_LIFE_MS && !this.#dial.isBehind;
    return isFresh && this.#socket !== undefined && !this.#socket.destroyed && !this.#socket.readableEnded;
  }

  destroy(): void {
    this.#dial.cancel();
    this.client.destroy(() => undefined);
  }

  /**
   * Connects only once: an exchange that lost its connection has failed, and must not be sent again. The
   * sender gives one whose request was not written another connection.
   */
  async #open(): Promise<Socket> {
    if (this.#wasDialled) {
      throw new AttemptFault(
        'CONNECTION_FAILED',
        `${this.origin.host} closed the connection as soon as it was open.`,
      );
    }
    this.#wasDialled = true;
    this.#socket = await this.#dial.open();
    return this.#socket;
  }
}

/** Idle connections for later deliveries to the same receivers. Unused ones close. */
export class Connections {
  /** By origin, the last used one at the end. */
  readonly #idle = new Map<string, Connection[]>();
  /** The longest idle one first. */
  readonly #queue = new Set<Connection>();
  #isClosed = false;

  constructor(private readonly options: DialOptions) {}

  /** An open connection, or a new one. */
  take(origin: URL): Connection {
    const stack = this.#idle.get(origin.origin);
    for (let kept = stack?.at(-1); kept; kept = stack?.at(-1)) {
      this.#forget(kept);
      if (kept.isUsable) {
        return kept;
      }
      kept.destroy();
    }
    return new Connection(origin, this.options, (gone) => this.#dismiss(gone));
  }

  /** Takes a connection back a turn after its exchange, to detect receivers that close it or send more. */
  release(connection: Connection): void {
    setImmediate(() => {
      if (this.#isClosed || !connection.isUsable) {
        connection.destroy();
        return;
      }
      const [longestIdle] = this.#queue;
      if (longestIdle && this.#queue.size >= MOST_IDLE) {
        this.#dismiss(longestIdle);
      }
      const { origin } = connection.origin;
      const stack = this.#idle.get(origin);
      stack ? stack.push(connection) : this.#idle.set(origin, [connection]);
      this.#queue.add(connection);
    });
  }

  /** Closes those whose receivers send too much while nothing is asked. Returns whether any are left. */
  closeTalkative(): boolean {
    for (const connection of this.#queue) {
      if (connection.hasSentTooMuch) {
        this.#dismiss(connection);
      }
    }
    return this.#queue.size > 0;
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#queue) {
      this.#dismiss(connection);
    }
  }

  #dismiss(connection: Connection): void {
    this.#forget(connection);
    connection.destroy();
  }

  #forget(connection: Connection): void {
    const { origin } = connection.origin;
    const stack = this.#idle.get(origin);
    const at = stack?.lastIndexOf(connection) ?? -1;
    if (stack && at >= 0) {
      stack.splice(at, 1);
      this.#queue.delete(connection);
      if (stack.length === 0) {
        this.#idle.delete(origin);
      }
    }
  }
}
