import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../../identifiers/network-address.js';

/** Behind proxies a few direct connections, such as probes, keep this part of the places. */
const SHARE_BESIDE_PROXIES = 1 / 16;

/** More than clients pipeline. */
const MOST_UNANSWERED = 16;
/** When the listener stops, the first request of a new connection may be on its way. */
const FIRST_REQUEST_WITHIN_MS = 1_000;

interface Connection {
  socket: Socket;
  network: string;
  isOfProxy: boolean;
  /** Unanswered requests: Node emits all that arrived, up to thousands in one read. */
  unanswered: number;
  /** The answer to the latest request, while it or its request is not complete. */
  answer?: ServerResponse | undefined;
  /**
   * What it had read when its latest request or answer ended; undefined before the first. A part of the next
   * request that had arrived by then is not seen, and is lost at a stop: only clients that pipeline send it.
   */
  readBytes?: number;
  /** No further request is admitted. */
  isEnding: boolean;
}

/**
 * The connections of a listener. At the limit, the largest network loses the one that is idle longest; a
 * trusted proxy stands for many clients, and only loses one where hardly any others are left.
 */
export class Connections {
  readonly #bySocket = new WeakMap<Socket, Connection>();
  /** Per network, least recently used first. */
  readonly #ofNetwork = new Map<string, Set<Connection>>();
  #count = 0;
  #isStopping = false;

  constructor(
    private readonly most: number,
    private readonly isProxy: (address: string) => boolean = () => false,
  ) {}

  opened(socket: Socket): void {
    const { remoteAddress: address = '' } = socket;
    const isOfProxy = address !== '' && this.isProxy(address);
    const network = networkOf(address);
    const connection: Connection = { socket, network, isOfProxy, unanswered: 0, isEnding: false };
    this.#bySocket.set(socket, connection);
    const ofNetwork = this.#ofNetwork.get(connection.network) ?? new Set();
    this.#ofNetwork.set(connection.network, ofNetwork.add(connection));
    this.#count += 1;
    socket.once('close', () => this.#remove(connection));
    if (this.#count > this.most) {
      const victim = this.#idlestOfGreatest();
      this.#remove(victim);
      victim.socket.destroy();
    }
  }

  /**
   * False if the request must not be answered: it is beyond the limit, which closes its connection, or it
   * follows the last request.
   */
  admit(request: IncomingMessage, response: ServerResponse, isLast = false): boolean {
    const { socket } = request;
    const connection = this.#bySocket.get(socket);
    if (!connection || connection.unanswered >= MOST_UNANSWERED) {
      socket.destroy();
    }
    if (!connection || socket.destroyed) {
      return false;
    }
    // Counts refused requests too: Node keeps them until the connection closes.
    connection.unanswered += 1;
    if (connection.isEnding) {
      return false;
    }
    connection.isEnding = isLast;
    connection.answer = response;
    this.#used(connection);
    const ended = () => {
      connection.readBytes = socket.bytesRead;
    };
    request.once('close', ended);
    response.once('close', () => {
      ended();
      connection.unanswered -= 1;
      if (connection.answer === response && request.complete) {
        connection.answer = undefined;
      }
      this.#used(connection);
      if (this.#isStopping && connection.unanswered === 0) {
        socket.destroySoon();
      }
    });
    return true;
  }

  /** From now on, a connection ends with its last answer, and soon if nothing of a request has arrived. */
  stop(): void {
    this.#isStopping = true;
    this.#destroy(({ socket, unanswered, readBytes }) => unanswered === 0 && socket.bytesRead === readBytes);
    // Node counts a connection that had no request as busy.
    setTimeout(() => this.#destroy(({ socket }) => socket.bytesRead === 0), FIRST_REQUEST_WITHIN_MS).unref();
  }

  #destroy(isMeant: (connection: Connection) => boolean): void {
    for (const connection of [...this.#ofNetwork.values()].flatMap((ofNetwork) => [...ofNetwork])) {
      isMeant(connection) && connection.socket.destroy();
    }
  }

  /** The latest answer and the unanswered requests of a connection that has failed. */
  latest(socket: Socket): Pick<Connection, 'answer' | 'unanswered'> {
    const { unanswered = 0, answer } = this.#bySocket.get(socket) ?? {};
    return { unanswered, answer };
  }

  #used(connection: Connection): void {
    const ofNetwork = this.#ofNetwork.get(connection.network);
    if (ofNetwork?.delete(connection)) {
      ofNetwork.add(connection);
    }
  }

  #remove(connection: Connection): void {
    const ofNetwork = this.#ofNetwork.get(connection.network);
    if (ofNetwork?.delete(connection)) {
      this.#count -= 1;
      if (ofNetwork.size === 0) {
        this.#ofNetwork.delete(connection.network);
      }
    }
  }

  /** If none is idle, the least recently used one. */
  #idlestOfGreatest(): Connection {
    const all = [...this.#ofNetwork.values()];
    const beside = all.filter(([first]) => !first?.isOfProxy);
    const besideCount = beside.reduce((sum, { size }) => sum + size, 0);
    const candidates = besideCount > this.most * SHARE_BESIDE_PROXIES ? beside : all;
    const greatest = candidates.reduce((one, other) => (other.size > one.size ? other : one));
    const [oldest] = greatest;
    for (const connection of greatest) {
      if (connection.unanswered === 0) {
        return connection;
      }
    }
    return oldest as Connection;
  }
}

const signals = new WeakMap<Socket, AbortSignal>();

/** Aborted when the connection closes. Node reports that to one of several pipelined answers only. */
export function closedSignal(socket: Socket): AbortSignal {
  if (socket.destroyed) {
    return AbortSignal.abort();
  }
  const known = signals.get(socket);
  if (known) {
    return known;
  }
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  socket.once('close', () => controller.abort());
  signals.set(socket, controller.signal);
  return controller.signal;
}
