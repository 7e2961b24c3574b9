import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import { jsonIn } from '../json.js';

const MAX_BODY_BYTES = 4 * 1_024 * 1_024;
const CLOSING_GRACE_MS = 1_000;
/** More events than arrive between the first and the last attempt of one. */
const REMEMBERED_IDS = 10_000;

/** A request and its outcome. */
export interface Receipt {
  receivedAt: Date;
  /** The `webhook-id`. */
  id: string;
  verified: boolean;
  /** Why it is not verified, or why it was not forwarded. */
  problem?: string;
  /** Whether an event with this id was verified recently. */
  again: boolean;
  status: number;
  durationMs: number;
  /** The body, if it is JSON. */
  event?: unknown;
}

interface ReceiverOptions {
  /** Resolves when the receiver is subscribed. */
  secret: Promise<string>;
  forwarder: Forwarder | undefined;
  onReceipt: (receipt: Receipt) => void;
}

/** Receives what the service posts, on a port of the loopback address. */
export class Receiver {
  readonly #server: Server;
  readonly #verifiedIds = new Set<string>();

  private constructor(
    private readonly options: ReceiverOptions,
    private readonly rememberedIds: number,
  ) {
    this.#server = createServer((incoming, outgoing) => {
      // The peer disconnected during the request, so there is no answer to send.
      this.#receive(incoming, outgoing).catch(() => outgoing.destroy());
    });
  }

  static async start(options: ReceiverOptions, rememberedIds = REMEMBERED_IDS): Promise<Receiver> {
    const receiver = new Receiver(options, rememberedIds);
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Waits a short time for requests in progress. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    const timer = setTimeout(() => this.#server.closeAllConnections(), CLOSING_GRACE_MS);
    await closed;
    clearTimeout(timer);
  }

  async #receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const receivedAt = new Date();
    const began = performance.now();
    if (incoming.method !== 'POST') {
      send(outgoing, textAnswer(405, 'This address accepts events, sent with POST.', { allow: 'POST' }));
      return;
    }
    const body = await bodyOf(incoming);
    if (body === undefined) {
      send(outgoing, textAnswer(413, 'The body is larger than any event.', { connection: 'close' }));
      return;
    }
    const refusal = await this.#refusalOf(incoming, body);
    const answer = refusal === undefined ? await this.#answerTo(incoming, body) : textAnswer(400, refusal);
    send(outgoing, answer);
    const id = String(incoming.headers['webhook-id'] ?? '');
    const verified = refusal === undefined;
    const again = verified && this.#verifiedIds.has(id);
    if (verified) {
      this.#remember(id);
    }
    this.options.onReceipt({
      receivedAt,
      id,
      verified,
      problem: refusal ?? answer.problem,
      again,
      status: answer.status,
      durationMs: Math.round(performance.now() - began),
      event: jsonIn(body.toString('utf8')),
    });
  }

  /** Undefined for a post that the service signed. */
  async #refusalOf({ headers }: IncomingMessage, body: Buffer): Promise<string | undefined> {
    try {
      const webhook = new Webhook(await this.options.secret);
      webhook.verify(body, headers as Record<string, string>, { jsonParse: false });
      return undefined;
    } catch (error) {
      return `${(error as Error).message}.`;
    }
  }

  async #answerTo({ headers }: IncomingMessage, body: Buffer): Promise<Answer> {
    const { forwarder } = this.options;
    return forwarder ? forwarder.forward(headers, body) : { status: 204, headers: {}, body: Buffer.alloc(0) };
  }

  #remember(id: string): void {
    this.#verifiedIds.add(id);
    if (this.#verifiedIds.size > this.rememberedIds) {
      this.#verifiedIds.delete(this.#verifiedIds.values().next().value as string);
    }
  }
}

function textAnswer(status: number, sentence: string, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
    body: Buffer.from(`${sentence}\n`),
  };
}

function send(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  outgoing.writeHead(status, headers);
  outgoing.end(body);
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    length += (chunk as Buffer).length;
    if (length > MAX_BODY_BYTES) {
      return undefined;
    }
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** Shorter than the limit of the service, 15 s, so that it gets an answer with the reason. */
const FORWARD_LIMIT_MS = 14_000;
const MAX_ANSWER_BYTES = 64 * 1_024;

/** Headers that apply to one connection and are not forwarded. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers of the answer that the service uses. */
const ANSWER_HEADERS = ['content-type', 'retry-after', 'location'];

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** Why the address gave no answer. */
  problem?: string;
}

/** Forwards requests with the same body and headers, except those of the connection. */
export class Forwarder {
  readonly #agent = new Agent();

  constructor(private readonly address: string) {}

  async forward(headers: IncomingHttpHeaders, body: Buffer): Promise<Answer> {
    try {
      const answer = await request(this.address, {
        method: 'POST',
        headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name))),
        body,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(FORWARD_LIMIT_MS),
      });
      const passedOn = ANSWER_HEADERS.filter((name) => answer.headers[name] !== undefined);
      return {
        status: answer.statusCode,
        headers: Object.fromEntries(passedOn.map((name) => [name, String(answer.headers[name])])),
        body: await firstBytes(answer.body),
      };
    } catch (error) {
      return this.#unanswered(error as NodeJS.ErrnoException);
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  #unanswered({ name, code, message }: NodeJS.ErrnoException): Answer {
    const problem =
      name === 'TimeoutError'
        ? `${this.address} did not answer within ${FORWARD_LIMIT_MS / 1_000} s.`
        : `Nothing answers at ${this.address} (${code ?? message}).`;
    const headers = { 'content-type': 'text/plain; charset=utf-8' };
    return { status: 502, headers, body: Buffer.from(`${problem}\n`), problem };
  }
}

async function firstBytes(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= MAX_ANSWER_BYTES) {
      break;
    }
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES);
}
