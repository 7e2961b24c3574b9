import {
  checkTolerance,
  keysOf,
  type ReceivedEvent,
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookHeadersInit,
  WebhookVerificationError,
} from '../webhooks.js';

/**
 * Stores an event. Once it returns, the answer is 204. An error that it throws goes to the framework, which
 * answers 500: the service sends the event again.
 */
export type EventHandler = (event: ReceivedEvent) => unknown;

export interface ReceiverOptions extends Omit<VerifyWebhookOptions, 'now'> {
  /** A longer body is answered 413. Default: 4 MiB, more than the largest event. */
  maxBytes?: number | undefined;
  /** Told of requests that are answered 400; for a log. */
  onRefused?: ((error: WebhookVerificationError) => void) | undefined;
}

/** An empty text has no type. */
export interface Answer {
  status: number;
  text: string;
}

const DEFAULT_MAX_BYTES = 4 * 2 ** 20;
export const TEXT_TYPE = 'text/plain; charset=utf-8';
export const TOO_LARGE: Answer = { status: 413, text: 'The body is too large.' };

/** Throws a `TypeError` for secrets and options with which no request could be verified. */
export function checkReceiver(
  secrets: string | readonly string[],
  { maxBytes, toleranceSeconds }: ReceiverOptions,
): void {
  keysOf(secrets);
  checkTolerance(toleranceSeconds);
  limitOf(maxBytes);
}

function limitOf(maxBytes = DEFAULT_MAX_BYTES): number {
  if (!(maxBytes >= 0)) {
    throw new TypeError('maxBytes must be a number of bytes, zero or more.');
  }
  return maxBytes;
}

/** The answer to a request; rejects with the errors of the handler and of the program. */
export async function answerTo(
  body: Uint8Array,
  headers: WebhookHeadersInit,
  secrets: string | readonly string[],
  handle: EventHandler,
  { toleranceSeconds, onRefused }: ReceiverOptions,
): Promise<Answer> {
  let event: ReceivedEvent;
  try {
    event = await verifyWebhook(body, headers, secrets, { toleranceSeconds });
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) {
      throw error;
    }
    onRefused?.(error);
    return { status: 400, text: `${error.reason}: ${error.message}` };
  }
  const result = await handle(event);
  if (typeof (result as { next?: unknown } | undefined)?.next === 'function') {
    throw new TypeError('The function for events is a generator, which stores nothing when it is called.');
  }
  return { status: 204, text: '' };
}

/** A mistake of the program: what arrived is gone, and cannot be verified. */
export function alreadyRead(advice: string): TypeError {
  return new TypeError(`The body was read before receiveWebhooks could verify its bytes. ${advice}`);
}

/** Keeps a body up to a limit. */
export class LimitedBody {
  /** One block for all chunks: a body in chunks of one byte has millions. */
  #block = new Uint8Array();
  #size = 0;
  #maxBytes: number;

  constructor(maxBytes: number | undefined) {
    this.#maxBytes = limitOf(maxBytes);
  }

  /** Whether this many further bytes stay within the limit. */
  takes(length: number): boolean {
    return this.#size + length <= this.#maxBytes;
  }

  /** False beyond the limit and from then on; nothing is kept then. */
  add(chunk: Uint8Array): boolean {
    if (!this.takes(chunk.length)) {
      this.#block = new Uint8Array();
      this.#size = 0;
      this.#maxBytes = -1;
      return false;
    }
    const size = this.#size + chunk.length;
    if (size > this.#block.length) {
      const block = new Uint8Array(Math.min(this.#maxBytes, Math.max(size, 2 * this.#block.length)));
      block.set(this.bytes());
      this.#block = block;
    }
    this.#block.set(chunk, this.#size);
    this.#size = size;
    return true;
  }

  bytes(): Uint8Array {
    return this.#block.subarray(0, this.#size);
  }
}

/** Of a stream that has ended without an error of its own. */
export class ConnectionLost extends Error {
  constructor() {
    super('The connection was lost before the end of the body.');
  }
}

/** A stream of Node.js. */
export interface ByteStream {
  readonly readableDidRead?: boolean;
  readonly readableEnded?: boolean;
  readonly destroyed?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: `never` and `unknown` fit no overload of @types/node 25 and newer.
  on(event: string, listener: (...values: any[]) => void): unknown;
}

/** The body, or `undefined` where it is too large; the rest of that is dropped as it comes. */
export function readStream(
  stream: ByteStream,
  body: LimitedBody,
  advice: string,
): Promise<Uint8Array | undefined> {
  // An empty body that was read has ended, though no byte of it was read.
  if (stream.readableDidRead || stream.readableEnded) {
    throw alreadyRead(advice);
  }
  if (stream.destroyed) {
    throw new ConnectionLost();
  }
  // Not by `for await`: to leave it early would destroy the connection before the answer.
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Uint8Array) => body.add(chunk) || resolve(undefined));
    stream.on('end', () => resolve(body.bytes()));
    stream.on('error', reject);
    stream.on('close', () => reject(new ConnectionLost()));
  });
}
