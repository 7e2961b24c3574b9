import type { Socket } from 'node:net';
import { networkOf } from '../identifiers/network-address.js';

const LIMITS = {
  inTotal: 1_024,
  perToken: 64,
  /** Connections without a valid token so far. */
  strangersInTotal: 512,
  strangersPerNetwork: 32,
  /** What such a connection may send, and how long it may stay. */
  strangerBytes: 128 * 1_024,
  strangerMs: 60_000,
  /** Successive calls without a valid token. */
  callsWithoutToken: 100,
  /** New TLS secrets of a connection: a handshake makes five, a change of keys (KeyUpdate) one or two. */
  secrets: 32,
};

/** Each MiB received allows one more secret. A key lasts 24 million records (RFC 8446, section 5.5). */
const BYTES_PER_SECRET = 1_024 * 1_024;

export type ConnectionLimits = typeof LIMITS;

const LOOK_EVERY_MS = 250;

interface Connection {
  socket: Socket;
  network: string;
  openedAt: number;
  /** The token that was first used on it. */
  tokenId: string | undefined;
  callsWithoutToken: number;
  secrets: number;
}

/**
 * The connections of a port. Until a valid token is used on it, a connection is a stranger: these are limited
 * in number, bytes and time, and the oldest of the largest network is closed first. A token with too many
 * connections gets no more.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #byPeer = new Map<string, Connection>();
  /** Oldest first. */
  readonly #strangers = new Set<Connection>();
  #look: NodeJS.Timeout | undefined;

  constructor(limits: Partial<ConnectionLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  opened(socket: Socket): void {
    const { remoteAddress: address = '', remotePort } = socket;
    const peer = `${address}:${remotePort}`;
    const network = networkOf(address);
    const openedAt = performance.now();
    const counts = { callsWithoutToken: 0, secrets: 0 };
    const connection: Connection = { socket, network, openedAt, tokenId: undefined, ...counts };
    this.#byPeer.set(peer, connection);
    this.#strangers.add(connection);
    socket.once('close', () => {
      this.#byPeer.delete(peer);
      this.#strangers.delete(connection);
    });
    const ofNetwork = [...this.#strangers].filter((stranger) => stranger.network === network);
    if (ofNetwork.length > this.#limits.strangersPerNetwork) {
      this.#cut(ofNetwork[0]);
    }
    const { strangersInTotal, inTotal } = this.#limits;
    if (this.#strangers.size > strangersInTotal || this.#byPeer.size > inTotal) {
      this.#cut(oldestOfLargest(this.#strangers));
    }
    this.#look ??= setInterval(() => this.#cutGreedy(), LOOK_EVERY_MS).unref();
  }

  /** Called when a valid token was used on the connection. */
  proven(peer: string, tokenId: string | undefined): void {
    const connection = this.#byPeer.get(peer);
    if (connection && this.#strangers.delete(connection) && tokenId !== undefined) {
      connection.tokenId = tokenId;
      const ofToken = [...this.#byPeer.values()].filter((other) => other.tokenId === tokenId);
      if (ofToken.length > this.#limits.perToken) {
        this.#cut(connection);
      }
    }
  }

  /** Called for a call without a valid token: a health check, or a refused one. */
  unproven(peer: string): void {
    const connection = this.#byPeer.get(peer);
    // A connection with a valid token may be a proxy's and carry the calls of many.
    if (connection && this.#strangers.has(connection)) {
      connection.callsWithoutToken += 1;
      if (connection.callsWithoutToken > this.#limits.callsWithoutToken) {
        this.#cut(connection);
      }
    }
  }

  /**
   * Counts a new TLS secret, and cuts the connection after too many. TLS does not limit changes of keys: each
   * has 27 bytes and takes 9 to 18 µs, and Node reads up to 2 MiB of a connection in one turn of the event
   * loop. Returns 'cut' where it did.
   */
  newSecret(peer: string): 'cut' | undefined {
    const connection = this.#byPeer.get(peer);
    // OpenSSL still works off what Node had read before the cut.
    if (!connection || connection.socket.destroyed) {
      return undefined;
    }
    connection.secrets += 1;
    if (connection.secrets <= this.#limits.secrets + connection.socket.bytesRead / BYTES_PER_SECRET) {
      return undefined;
    }
    this.#cut(connection);
    return 'cut';
  }

  /** For the end of the server, which does not wait for strangers. */
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

function oldestOfLargest(strangers: Iterable<Connection>): Connection | undefined {
  const networks = new Map<string, Connection[]>();
  for (const stranger of strangers) {
    const group = networks.get(stranger.network) ?? [];
    networks.set(stranger.network, group);
    group.push(stranger);
  }
  const [largest] = [...networks.values()].sort((one, other) => other.length - one.length);
  return largest?.[0];
}
