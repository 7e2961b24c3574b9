import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { afterAll, expect } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { listenOnLoopback } from '../loopback.js';
import type { Issued } from '../self-signed-certificate.js';
import { faultsOfWebhook } from './event-judge.js';

/** A little less than the limit of a test, so that a failure says what came. */
const LIMIT_MS = 150_000;

/** What came in, as it came. */
export interface ReceivedWebhook {
  /** In milliseconds, with fractions. */
  at: number;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  eventId: string;
  /** The body as JSON; what it means is for the tests to judge. */
  // biome-ignore lint/suspicious/noExplicitAny: the schema of its type judges it.
  event: any;
}

/** Answers, or acts on the connection. `earlier` counts earlier requests with the same id. */
export type Answer = (response: ServerResponse, request: ReceivedWebhook, earlier: number) => void;

export function answerWith(status: number, headers: Record<string, string> = {}, body = ''): Answer {
  return (response) => response.writeHead(status, headers).end(body);
}

export const accept = answerWith(204);

/** Answers so for so many requests with an id, and otherwise from then on. */
export function atFirst(times: number, first: Answer, then: Answer = accept): Answer {
  return (response, request, earlier) => (earlier < times ? first : then)(response, request, earlier);
}

/** The address of a subscription: keeps what comes in and answers as it is told. */
export class WebhookReceiver {
  readonly received: ReceivedWebhook[] = [];
  /** What came that the contract does not admit. */
  readonly faults: string[] = [];
  readonly #watchers = new Set<() => void>();
  readonly #seen = new Map<string, number>();

  private constructor(
    private readonly server: Server,
    public answer: Answer,
    readonly url: string,
  ) {
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => {
        const { method = '', url: path = '', headers } = request;
        this.#take({ method, path, headers, body: Buffer.concat(chunks) }, response);
      });
    });
  }

  /** With a certificate over https, as live requires. */
  static async start(answer: Answer = accept, identity?: Issued): Promise<WebhookReceiver> {
    const server = identity
      ? createTlsServer({ cert: identity.certificate, key: identity.key })
      : createServer();
    const port = await listenOnLoopback(server);
    return new WebhookReceiver(server, answer, `${identity ? 'https' : 'http'}://127.0.0.1:${port}/hook`);
  }

  /** The first that fits, in already or yet to come. */
  next(fits: (request: ReceivedWebhook) => boolean = () => true): Promise<ReceivedWebhook> {
    return this.until('a request that fits', (received) => received.find(fits));
  }

  /** Those of one event, once there are so many. */
  attempts(eventId: string, count: number): Promise<ReceivedWebhook[]> {
    return this.until(`${count} requests with ${eventId}`, (received) => {
      const found = received.filter((request) => request.eventId === eventId);
      return found.length >= count ? found : undefined;
    });
  }

  until<T>(what: string, look: (received: readonly ReceivedWebhook[]) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#watchers.delete(attempt);
        const came = this.received.map(({ eventId, event }) => `${event?.type} ${eventId}`).join('\n');
        reject(new Error(`Not received within ${LIMIT_MS} ms: ${what}. What came:\n${came}`));
      }, LIMIT_MS);
      const attempt = () => {
        const found = look(this.received);
        if (found !== undefined) {
          clearTimeout(timer);
          this.#watchers.delete(attempt);
          resolve(found);
        }
      };
      this.#watchers.add(attempt);
      attempt();
    });
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  #take(
    { method, path, headers, body }: Pick<ReceivedWebhook, 'method' | 'path' | 'headers' | 'body'>,
    response: ServerResponse,
  ): void {
    const eventId = String(headers['webhook-id']);
    const at = performance.timeOrigin + performance.now();
    const request = { at, method, path, headers, body, eventId, event: parsed(body) };
    const earlier = this.#seen.get(eventId) ?? 0;
    this.#seen.set(eventId, earlier + 1);
    this.received.push(request);
    this.faults.push(...faultsOfWebhook(headers, body));
    this.answer(response, request, earlier);
    for (const look of [...this.#watchers]) {
      look();
    }
  }
}

/** Call it in a describe block, which fails for requests that are no event of the contract. */
export function webhookReceivers(): (answer?: Answer, identity?: Issued) => Promise<WebhookReceiver> {
  const started: WebhookReceiver[] = [];
  afterAll(async () => {
    await Promise.all(started.map((receiver) => receiver.close()));
    expect(started.flatMap(({ faults }) => faults)).toEqual([]);
  });
  return async (answer, identity) => {
    const receiver = await WebhookReceiver.start(answer, identity);
    started.push(receiver);
    return receiver;
  };
}

/** The payload, if the library of Standard Webhooks takes the request for genuine; else it throws. */
export function verified({ body, headers }: ReceivedWebhook, secret: string): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
