import { type Client, type StatusObject, status } from '@grpc/grpc-js';

/** HTTP/2 servers close connections with many cancelled calls (Node: 1,000). Leaves room for open calls. */
const MOST_CANCELLED = 500;

/** Statuses of calls that the client has reset; the server uses them too, which does no harm. */
const CANCELLED: ReadonlySet<number> = new Set([status.CANCELLED, status.DEADLINE_EXCEEDED]);

/** The common interface of calls of grpc-js. */
interface Call {
  once(event: 'status', listener: (over: StatusObject) => void): unknown;
  cancel(): void;
}

interface Opened {
  client: Client;
  underWay: Set<Call>;
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
    connection.underWay.add(begun);
    begun.once('status', ({ code }) => this.#over(connection, begun, code));
    return begun;
  }

  get underWay(): number {
    return [...this.#opened].reduce((calls, { underWay }) => calls + underWay.size, 0);
  }

  /** Ends all calls; later ones use a new connection. */
  break(): void {
    const broken = [...this.#opened];
    this.#current = this.#next();
    for (const connection of broken) {
      for (const call of connection.underWay) {
        call.cancel();
      }
      this.#closeIfUnused(connection);
    }
  }

  close(): void {
    for (const { client } of this.#opened) {
      client.close();
    }
  }

  #over(connection: Opened, call: Call, code: number): void {
    connection.underWay.delete(call);
    connection.cancelled += CANCELLED.has(code) ? 1 : 0;
    if (connection === this.#current && connection.cancelled >= MOST_CANCELLED) {
      this.#current = this.#next();
    }
    this.#closeIfUnused(connection);
  }

  #closeIfUnused(connection: Opened): void {
    const isUnused = connection !== this.#current && connection.underWay.size === 0;
    if (isUnused && this.#opened.delete(connection)) {
      connection.client.close();
    }
  }

  #next(): Opened {
    const opened = { client: this.open(), underWay: new Set<Call>(), cancelled: 0 };
    this.#opened.add(opened);
    return opened;
  }
}
