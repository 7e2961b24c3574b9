import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';

export interface Answer {
  status: number;
  head: string;
  body: string;
}

/** The connection ended, or was never made, while a request waited for its answer. */
export class ConnectionCut extends Error {}

/**
 * Asks on one connection, one request at a time, and connects again where it was closed. Bytes that do not
 * belong to the one answer are reported: an HTTP library would drop them.
 */
export class KeptConnection {
  #socket: Socket | undefined;
  #received = Buffer.alloc(0);
  #waiting: { resolve(answer: Answer): void; reject(reason: Error): void } | undefined;

  constructor(
    private readonly port: number,
    private readonly onUnasked: (bytes: string) => void,
  ) {}

  ask(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket ??= this.#connect();
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const socket = connect({ host: '127.0.0.1', port: this.port, noDelay: true });
    this.#received = Buffer.alloc(0);
    let reason = 'closed';
    socket.on('data', (chunk: Buffer) =>
      socket === this.#socket ? this.#read(chunk) : this.onUnasked(chunk.toString()),
    );
    socket.on('error', (error: NodeJS.ErrnoException) => {
      reason = error.code ?? error.message;
    });
    socket.once('close', () => {
      if (this.#socket === socket) {
        this.#socket = undefined;
        this.#waiting?.reject(new ConnectionCut(reason));
        this.#waiting = undefined;
      }
    });
    return socket;
  }

  #read(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) {
      return;
    }
    const head = this.#received.toString('latin1', 0, headEnd);
    const bodyStart = headEnd + HEAD_END.length;
    const bodyEnd = bodyStart + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < bodyEnd) {
      return;
    }
    const body = this.#received.toString('utf8', bodyStart, bodyEnd);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    const waiting = this.#waiting;
    if (!waiting || this.#received.length > bodyEnd) {
      this.onUnasked(this.#received.toString());
    }
    this.#waiting = undefined;
    this.#received = Buffer.alloc(0);
    if (/\r\nconnection: *close/i.test(head)) {
      this.#socket?.end();
      this.#socket = undefined;
    }
    waiting?.resolve({ status, head, body });
  }
}
