import type { Socket } from 'node:net';
import {
  type ChannelCredentials,
  type Client,
  connectivityState,
  credentials,
  experimental,
  ServerCredentials,
  type StatusObject,
  status,
} from '@grpc/grpc-js';
import type { CertificateFiles } from './certificate-files.js';
import { FRAME_BYTES, MAX_ANSWER_BYTES } from './short-calls/frames.js';

/** Of all clients. */
export const CLIENT_OPTIONS = {
  'grpc.max_receive_message_length': MAX_ANSWER_BYTES + FRAME_BYTES,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 5_000,
};

/** Without TLS on a socket; with TLS beyond loopback, and where an authority is given. */
export function clientCredentials(address: string, files?: CertificateFiles): ChannelCredentials {
  if (address.startsWith('unix:')) {
    return credentials.createInsecure();
  }
  if (files === undefined) {
    const local = /^(localhost|127\.[\d.]+|\[::1\]):/.test(address);
    return local ? credentials.createInsecure() : credentials.createSsl();
  }
  return experimental.createCertificateProviderChannelCredentials(files, files.hasIdentity ? files : null);
}

/**
 * When a client is closed before the server has sent anything, grpc-js leaves the socket open: each attempt
 * at a frozen server would leave one more. Overrides a method that only grpc-js calls.
 */
export function closingAttempts(given: ChannelCredentials): ChannelCredentials {
  const closing: ChannelCredentials = Object.create(given);
  closing._createSecureConnector = (...target) => {
    const connector = given._createSecureConnector(...target);
    const sockets = new Set<Socket>();
    let isOver = false;
    return {
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      connect: async (socket) => {
        if (isOver) {
          socket.destroy();
          throw new Error('the attempt was given up');
        }
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        return connector.connect(socket);
      },
      destroy: () => {
        isOver = true;
        for (const socket of sockets) {
          if (socket.bytesRead === 0) {
            socket.destroy();
          }
        }
        connector.destroy();
      },
    };
  };
  return closing;
}

/** With `clientsProve`, a connection without a certificate of the authority is closed before any call. */
export function serverCredentials(
  files?: CertificateFiles,
  { clientsProve = false } = {},
): ServerCredentials {
  if (files === undefined) {
    return ServerCredentials.createInsecure();
  }
  return experimental.createCertificateProviderServerCredentials(
    files,
    clientsProve ? files : null,
    clientsProve,
  );
}

/** HTTP/2 servers close connections with many cancelled calls (Node: 1,000). Leaves room for open calls. */
const MOST_CANCELLED = 500;

/** Statuses of calls that the client has reset; the server uses them too, which does no harm. */
const CANCELLED: ReadonlySet<number> = new Set([status.CANCELLED, status.DEADLINE_EXCEEDED]);

/** Longer than the deadlines of most calls, which end by these first. */
const CONNECT_MS = 20_000;

/** The common interface of calls of grpc-js. */
interface Call {
  once(event: 'status', listener: (over: StatusObject) => void): unknown;
  cancel(): void;
}

interface Opened {
  client: Client;
  underWay: Set<Call>;
  cancelled: number;
  /** Whether calls wait until it is connected. */
  isAwaited: boolean;
}

/**
 * A connection that is replaced before the server would close it; its calls go on until they end. Also
 * replaces one that is not made in time, and cancels its calls: grpc-js waits without limit for a server that
 * accepts a connection and then sends nothing.
 */
export class RenewedConnection {
  readonly #opened = new Set<Opened>();
  #current: Opened;

  constructor(
    private readonly open: () => Client,
    private readonly connectMs = CONNECT_MS,
  ) {
    this.#current = this.#next();
  }

  begin<C extends Call>(call: (client: Client) => C): C {
    const connection = this.#current;
    const begun = call(connection.client);
    connection.underWay.add(begun);
    begun.once('status', ({ code }) => this.#over(connection, begun, code));
    if (!connection.isAwaited) {
      this.#await(connection, Date.now() + this.connectMs);
    }
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
      this.#giveUp(connection);
    }
  }

  close(): void {
    for (const { client } of this.#opened) {
      client.close();
    }
  }

  /** Not by `waitForReady`, which would connect a closed client again. */
  #await(connection: Opened, givesUpAt: number): void {
    const channel = connection.client.getChannel();
    const state = channel.getConnectivityState(false);
    connection.isAwaited = state !== connectivityState.READY && state !== connectivityState.SHUTDOWN;
    if (connection.isAwaited) {
      channel.watchConnectivityState(state, givesUpAt, (isLate) =>
        isLate ? this.#giveUp(connection) : this.#await(connection, givesUpAt),
      );
    }
  }

  #giveUp(connection: Opened): void {
    if (connection === this.#current) {
      this.#current = this.#next();
    }
    for (const call of connection.underWay) {
      call.cancel();
    }
    this.#closeIfUnused(connection);
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
    const opened = { client: this.open(), underWay: new Set<Call>(), cancelled: 0, isAwaited: false };
    this.#opened.add(opened);
    return opened;
  }
}
