import { type Client, type StatusObject, status } from '@grpc/grpc-js';

/**
 * HTTP/2 servers close a connection, with every call on it, over which too many calls are cancelled: Node's at a thousand, and from then on at 33 a second. What
 * is under way when a connection is replaced may be cancelled as well, and must fit in.
 */
const MOST_CANCELLED = 500;

/** How calls end that the client has reset; those that the server ended so count too, which does no harm. */
const CANCELLED: ReadonlySet<number> = new Set([status.CANCELLED, status.DEADLINE_EXCEEDED]);

/** What every kind of call of grpc-js is. */
interface Call {
  once(event: 'status', listener: (over: StatusObject) => void): unknown;
}

interface Opened {
  client: Client;
  underWay: number;
  cancelled: number;
}

/** A connection to a server, replaced by a new one before the server would close it. The old one stays until its calls are over. */
export class RenewedConnection {
  readonly #opened = new Set<Opened>();
  #current: Opened;

  constructor(private readonly open: () => Client) {
    this.#current = this.#next();
  }

  begin<C extends Call>(call: (client: Client) => C): C {
    const connection = this.#current;
    const begun = call(connection.client);
    connection.underWay += 1;
    begun.once('status', ({ code }) => this.#over(connection, code));
    return begun;
  }

  close(): void {
    for (const { client } of this.#opened) {
      client.close();
    }
  }

  #over(connection: Opened, code: number): void {
    connection.underWay -= 1;
    connection.cancelled += CANCELLED.has(code) ? 1 : 0;
    if (connection === this.#current && connection.cancelled >= MOST_CANCELLED) {
      this.#current = this.#next();
    }
    if (connection !== this.#current && connection.underWay === 0) {
      this.#opened.delete(connection);
      connection.client.close();
    }
  }

  #next(): Opened {
    const opened = { client: this.open(), underWay: 0, cancelled: 0 };
    this.#opened.add(opened);
    return opened;
  }
}
