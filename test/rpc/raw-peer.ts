import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { connect as dial } from 'node:net';

/** A peer that speaks HTTP/2 and does with gRPC what no library would. */
export class RawPeer {
  readonly session: ClientHttp2Session;
  /** How many of its calls the server has closed. */
  closed = 0;
  readonly statuses: string[] = [];

  /** With a window of 0, it takes no answer. */
  constructor(address: string, initialWindowSize?: number) {
    const path = address.startsWith('unix:') ? address.slice('unix:'.length) : undefined;
    const url =
      path === undefined
        ? new URL(address.includes('//') ? address : `http://${address}`)
        : 'http://localhost';
    this.session = connect(url, {
      // It keeps what it cannot send, and would give up early.
      maxSessionMemory: 1_000,
      rejectUnauthorized: false,
      settings: initialWindowSize === undefined ? {} : { initialWindowSize },
      ...(path === undefined ? {} : { createConnection: () => dial(path) }),
    });
    this.session.on('error', () => undefined);
  }

  call(path: string, token?: string, headers: Record<string, string> = {}): ClientHttp2Stream {
    const stream = this.session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    });
    stream.on('response', (headers) => this.#note(headers['grpc-status']));
    stream.on('trailers', (headers) => this.#note(headers['grpc-status']));
    stream.on('error', () => undefined);
    stream.on('close', () => {
      this.closed += 1;
    });
    stream.resume();
    return stream;
  }

  /** A call with an announced message that never ends. */
  unfinished(path: string, token?: string, announced = 200_000, sent = announced - 1): ClientHttp2Stream {
    const stream = this.call(path, token);
    const message = Buffer.alloc(5 + sent);
    message.writeUInt32BE(announced, 1);
    stream.write(message);
    return stream;
  }

  #note(status: unknown): void {
    if (status !== undefined) {
      this.statuses.push(String(status));
    }
  }

  leave(): void {
    this.session.destroy();
  }
}
