import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'undici';

/** Shorter than the limit of the service, 15 s, so that it gets an answer with the reason. */
const TIMEOUT_MS = 14_000;
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

export interface Answer {
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
        signal: AbortSignal.timeout(TIMEOUT_MS),
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
        ? `${this.address} did not answer within ${TIMEOUT_MS / 1_000} s.`
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
