import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../../identifiers/network-address.js';

/** More than clients send before they have the first answer. */
const MOST_UNANSWERED = 16;

interface Connection {
  socket: Socket;
  network: string;
  /** Requests without an answer: Node emits every request that has arrived, answered or not, up to thousands in one read. */
  unanswered: number;
}

/**
 * The connections of a listener. Where there is one too many, the network that has most of them loses the one that has been idle longest, so that no network keeps the
 * others out. A proxy is such a network: of it, too, this is the connection that it misses least.
 */
export class Connections {
  readonly #bySocket = new WeakMap<Socket, Connection>();
  /** Of each network, in the order in which they were last used. */
  readonly #ofNetwork = new Map<string, Set<Connection>>();
  #count = 0;

  constructor(private readonly most: number) {}

  opened(socket: Socket): void {
    const connection = { socket, network: networkOf(socket.remoteAddress ?? ''), unanswered: 0 };
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

  /** False if the request is not to be answered: one too many closes its connection, and those behind it in the same read still come. */
  admit({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#bySocket.get(socket);
    if (!connection || connection.unanswered >= MOST_UNANSWERED) {
      socket.destroy();
    }
    if (!connection || socket.destroyed) {
      return false;
    }
    connection.unanswered += 1;
    this.#used(connection);
    response.once('close', () => {
      connection.unanswered -= 1;
      this.#used(connection);
    });
    return true;
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

  /** Where none is idle, the one that was used longest ago. */
  #idlestOfGreatest(): Connection {
    let greatest = new Set<Connection>();
    for (const ofNetwork of this.#ofNetwork.values()) {
      greatest = ofNetwork.size > greatest.size ? ofNetwork : greatest;
    }
    const [oldest] = greatest;
    for (const connection of greatest) {
      if (connection.unanswered === 0) {
        return connection;
      }
    }
    return oldest as Connection;
  }
}
