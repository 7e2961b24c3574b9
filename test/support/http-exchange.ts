import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';

export interface Exchange {
  method: string;
  target: string;
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Question {
  method?: string;
  /** Undefined removes one that would be sent otherwise. */
  headers?: Record<string, string | string[] | undefined>;
  body?: string | Buffer;
}

/** One request on a new connection. Sends the target unchanged, unlike fetch. */
export function exchange(
  port: number,
  target: string,
  { method = 'GET', headers = {}, body }: Question = {},
): Promise<Exchange> {
  const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, method, path: target, headers: sent, agent: false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.once('error', reject);
        incoming.once('end', () =>
          resolve({
            method,
            target,
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

/** Sends these bytes and returns all that comes back until the other side closes. */
export function rawExchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      received += chunk;
    });
    // An early refusal closes the connection while the request is sent; its answer has been read by then.
    socket.once('error', (error) => (received === '' ? reject(error) : resolve(received)));
    socket.once('close', () => resolve(received));
  });
}
