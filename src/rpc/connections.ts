import type { Socket } from 'node:net';

export interface ConnectionLimits {
  inTotal: number;
  /** Connections over which no valid token has come yet. */
  strangersInTotal: number;
  strangersPerAddress: number;
  /** What a stranger may send, and how long it may stay. */
  strangerBytes: number;
  strangerMs: number;
  /** Calls without a valid token, one after the other. */
  callsWithoutToken: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  inTotal: 1_024,
  strangersInTotal: 128,
  strangersPerAddress: 32,
  strangerBytes: 512 * 1_024,
  strangerMs: 60_000,
  callsWithoutToken: 100,
};

const LOOK_EVERY_MS = 250;

interface Connection {
  socket: Socket;
  address: string;
  openedAt: number;
  callsWithoutToken: number;
}

/**
 * The connections of a port. One is a stranger's until a valid token comes over it; strangers are few, send little and go soon, the oldest first where there are too many,
 * so that they keep out nobody who shows a token.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #byPeer = new Map<string, Connection>();
  /** In the order in which they came. */
  readonly #strangers = new Set<Connection>();
  #look: NodeJS.Timeout | undefined;

  constructor(limits: Partial<ConnectionLimits> = {}) {
    this.#limits = { ...CONNECTION_LIMITS, ...limits };
  }

  get inTotal(): number {
    return this.#limits.inTotal;
  }

  opened(socket: Socket): void {
    const { remoteAddress: address = '', remotePort } = socket;
    const peer = `${address}:${remotePort}`;
    const connection = { socket, address, openedAt: performance.now(), callsWithoutToken: 0 };
    this.#byPeer.set(peer, connection);
    this.#strangers.add(connection);
    socket.once('close', () => {
      this.#byPeer.delete(peer);
      this.#strangers.delete(connection);
    });
    const ofAddress = [...this.#strangers].filter((stranger) => stranger.address === address);
    if (ofAddress.length > this.#limits.strangersPerAddress) {
      this.#cut(ofAddress[0]);
    }
    if (this.#strangers.size > this.#limits.strangersInTotal) {
      this.#cut([...this.#strangers][0]);
    }
    this.#look ??= setInterval(() => this.#cutGreedy(), LOOK_EVERY_MS).unref();
  }

  /** A valid token came over it. */
  proven(peer: string): void {
    const connection = this.#byPeer.get(peer);
    if (connection) {
      connection.callsWithoutToken = 0;
      this.#strangers.delete(connection);
    }
  }

  /** A call came over it without a valid token: a health check, or one that was refused. */
  unproven(peer: string): void {
    const connection = this.#byPeer.get(peer);
    if (connection) {
      connection.callsWithoutToken += 1;
      if (connection.callsWithoutToken > this.#limits.callsWithoutToken) {
        this.#cut(connection);
      }
    }
  }

  /** When the server ends: strangers are not waited for. */
  cutStrangers(): void {
    for (const stranger of [...this.#strangers]) {
      this.#cut(stranger);
    }
  }

  cutAll(): void {
    for (const connection of [...this.#byPeer.values()]) {
      this.#cut(connection);
    }
  }

  #cutGreedy(): void {
    const { strangerBytes, strangerMs } = this.#limits;
    const now = performance.now();
    for (const stranger of [...this.#strangers]) {
      if (stranger.socket.bytesRead > strangerBytes || now - stranger.openedAt > strangerMs) {
        this.#cut(stranger);
      }
    }
    if (this.#strangers.size === 0) {
      clearInterval(this.#look);
      this.#look = undefined;
    }
  }

  #cut(connection: Connection | undefined): void {
    if (connection) {
      this.#strangers.delete(connection);
      connection.socket.destroy();
    }
  }
}
