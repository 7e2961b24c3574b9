import { type Client, type StatusObject, status } from '@grpc/grpc-js';

/** HTTP/2 servers close connections with many cancelled calls (Node: 1,000). Leaves room for open calls. */
const MOST_CANCELLED = 500;

/** Statuses of calls that the client has reset; the server uses them too, which does no harm. */
const CANCELLED: ReadonlySet<number> = new Set([status.CANCELLED, status.DEADLINE_EXCEEDED]);

/** The common interface of calls of grpc-js. */
interface Call {
  once(event: 'status', listener: (over: StatusObject) => void): unknown;
}

interface Opened {
  client: Client;
  underWay: number;
  cancelled: number;
}

/** A connection that is replaced before the server would close it. The old one stays until its calls end. */
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
