import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { afterEach } from '@jest/globals';

/** Handles a request on the bare socket. `count` is 1 for the first request. */
export type RawAnswer = (socket: Socket, count: number) => void;

/** Below HTTP, so that it can break every rule of it. */
export class RawReceiver {
  connections = 0;
  requests: string[] = [];
  readonly sockets = new Set<Socket>();

  constructor(
    readonly server: Server,
    answer: RawAnswer,
  ) {
    const take = (socket: Socket) => {
      this.connections += 1;
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.sockets.delete(socket));
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        for (let end = endOfRequest(text); end > 0; end = endOfRequest(text)) {
          this.requests.push(text.slice(0, end));
          text = text.slice(end);
          answer(socket, this.requests.length);
        }
      });
    };
    server.on('secureConnection', take);
    if (!('setSecureContext' in server)) {
      server.on('connection', take);
    }
  }

  get port(): number {
    return (this.server.address() as { port: number }).port;
  }

  close(): void {
    for (const socket of this.sockets) {
      socket.destroy();
    }
    this.server.close();
  }
}

/** Call it where a group of tests is described; what it starts is closed after each test. */
export function rawReceivers() {
  const started: RawReceiver[] = [];
  afterEach(() => {
    for (const receiver of started.splice(0)) {
      receiver.close();
    }
  });
  const listen = async (server: Server, answer: RawAnswer, host: string): Promise<RawReceiver> => {
    const receiver = new RawReceiver(server, answer);
    started.push(receiver);
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return receiver;
  };
  return {
    start: (answer: RawAnswer, host = '127.0.0.1') => listen(createServer(), answer, host),
    startTls: (options: TlsOptions, answer: RawAnswer) =>
      listen(
        createTlsServer(options).on('tlsClientError', () => undefined),
        answer,
        '127.0.0.1',
      ),
  };
}

export const noContent: RawAnswer = (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n');

export function answering(text: string): RawAnswer {
  return (socket) => socket.write(text);
}

/** Then it ends the connection. */
export function lastly(text: string): RawAnswer {
  return (socket) => socket.end(text);
}

function endOfRequest(text: string): number {
  const head = text.indexOf('\r\n\r\n');
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head + 2))?.[1] ?? 0);
  return head >= 0 && text.length >= head + 4 + length ? head + 4 + length : -1;
}
