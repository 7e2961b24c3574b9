import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll } from '@jest/globals';
import { listenOnLoopback } from '../../support/loopback.js';

export interface Asked {
  method: string;
  /** Path and query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

export type Answer = (response: ServerResponse, asked: Asked) => void;

export function json(body: unknown, headers: Record<string, string> = {}, status = 200): Answer {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function problem(status: number, code: string, headers: Record<string, string> = {}): Answer {
  const body = {
    type: `/docs/errors#${code}`,
    title: code,
    status,
    code,
    message: `It is ${code}.`,
    requestId: 'req-1',
  };
  return json(body, { 'content-type': 'application/problem+json', ...headers }, status);
}

export function page(status: number, headers: Record<string, string> = {}): Answer {
  return (response) =>
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<h1>Bad Gateway</h1>');
}

/** As from a default backend: 200 without a body. */
export const nothing: Answer = (response) => response.writeHead(200).end();

/** The connection breaks before a byte of an answer. */
export const hangUp: Answer = (response) => response.destroy();

/** The connection breaks in the middle of the answer. */
export const breakOff: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('[{"id":', () => response.destroy());
};

/** Says nothing for as long as the test lasts. */
export const silence: Answer = () => undefined;

/** Begins an answer and never ends it. */
export const trickle: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('[');
};

/** Answers one request after another as it is told, the last permanently, and keeps what it was asked. */
export class ScriptedServer {
  readonly asked: Asked[] = [];
  #script: Answer[] = [];

  constructor(
    server: Server,
    readonly url: string,
  ) {
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => {
        const { method = '', url: path = '', headers } = request;
        const asked = {
          method,
          path,
          headers,
          body: Buffer.concat(chunks).toString(),
          at: performance.now(),
        };
        this.asked.push(asked);
        const [answer] = this.#script.length > 1 ? this.#script.splice(0, 1) : this.#script;
        answer?.(response, asked);
      });
    });
  }

  /** Forgets what was, and answers so from now on. */
  answers(...script: Answer[]): this {
    this.asked.length = 0;
    this.#script = script;
    return this;
  }
}

/** Compressed, for requests that accept it; with `half`, only half of the body, and then calls it. */
export function gzipped(body: unknown, half?: (response: ServerResponse) => void): Answer {
  const bytes = gzipSync(JSON.stringify(body));
  const headers = {
    'content-type': 'application/json',
    'content-encoding': 'gzip',
    'content-length': bytes.length,
  };
  return (response, asked) => {
    if (!asked.headers['accept-encoding']?.includes('gzip')) {
      page(406)(response, asked);
      return;
    }
    response.writeHead(200, headers);
    if (half) {
      response.write(bytes.subarray(0, bytes.length / 2), () => half(response));
    } else {
      response.end(bytes);
    }
  };
}

/** Call it where a group of tests is described; what it starts is closed after the group. */
export function newServers<Made>(make: (server: Server, url: string) => Made): () => Promise<Made> {
  const servers: Server[] = [];
  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });
  return async () => {
    const server = createServer();
    servers.push(server);
    const port = await listenOnLoopback(server);
    return make(server, `http://127.0.0.1:${port}`);
  };
}

export const scriptedServers = () => newServers((server, url) => new ScriptedServer(server, url));
