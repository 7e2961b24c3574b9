import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';

/** A request, as contracts see it. */
export interface HttpRequest {
  method: string;
  /** Still percent-encoded, without the query. */
  path: string;
  query: URLSearchParams;
  /** The query as received, for parsers that report malformed parts. */
  rawQuery: string;
  headers: IncomingHttpHeaders;
  requestId: string;
  /** The network address of the client, by way of trusted proxies. */
  clientAddress: string;
  /** The network of that address, by which places and turns are shared. */
  network: string;
  /** The whole body, read on the first call. Rejects with BodyRefusal if it is too large or too slow. */
  readBody(): Promise<Buffer>;
  /** Ends the reading of the body as if it were too slow. */
  giveUpBody(): void;
  /** Aborted when the client closes its connection. */
  left: AbortSignal;
  /** From now on, the answer may take so much longer than usual: the connection may be silent meanwhile. */
  wait(ms: number): void;
  /**
   * Counts the parts of an answer that are in memory before it begins, for the integration that gets it.
   * Returns whether there is room for more.
   */
  holds(bytes: number, integrationId: string): boolean;
}

/** The code in the log of a request that is refused because too many others are under way. */
export const BUSY = 'busy';

/** A body in pieces. The consumer always calls `return`, which releases the source. */
export type BodyStream = AsyncIterableIterator<Buffer> & { return(): Promise<IteratorResult<Buffer>> };

/** Not a generator: `return` on an unstarted one would not release the source. */
export function bodyStream(
  next: () => Promise<IteratorResult<Buffer>>,
  release: () => Promise<unknown>,
): BodyStream {
  return {
    next,
    return: async () => {
      await release();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

export interface HttpAnswer {
  status: number;
  /** Several values are several headers. */
  headers: Record<string, string | number | string[]>;
  /** A stream is written at the speed of the reader. */
  body?: string | Buffer | BodyStream;
}

export function isStream(body: HttpAnswer['body']): body is BodyStream {
  return typeof body === 'object' && !Buffer.isBuffer(body);
}

/** An answer with its names for log and metrics. */
export interface DispatchedAnswer extends HttpAnswer {
  /** Operation id of the contract, or `none`. */
  operation: string;
  /** More fields for the log line, such as the caller and the reason for a refusal. Never a secret. */
  facts?: Record<string, string | number | undefined>;
  /** Of the log line, if it does not follow from the status. */
  level?: 'warn' | undefined;
}

export type Dispatch = (request: HttpRequest) => Promise<DispatchedAnswer>;

const MAX_BODY_BYTES = 64 * 1_024;
const READ_TIMEOUT_MS = 10_000;

/** How much of a refused body is discarded, and how long, so that the client reads the answer first. */
const MAX_DISCARDED_BYTES = 1_024 * 1_024;
const DISCARD_TIMEOUT_MS = 1_000;

const NOTHING = Buffer.alloc(0);

/** Whether a body follows the header fields. */
export function announcesBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * The body of one request, copied as it arrives, even if no operation reads it: Node would keep each chunk as
 * an object, hundreds of bytes for a chunk of one byte.
 */
export class RequestBody {
  #reading: Promise<Buffer> | undefined;
  #refused = false;
  #awaited: boolean;
  /** One block for all chunks. */
  #block = NOTHING;
  #size = 0;
  /** What came beyond the limit. */
  #droppedBytes = 0;
  #endFlow: () => void = () => undefined;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    private readonly readTimeoutMs = READ_TIMEOUT_MS,
  ) {
    // HTTP/1.0 has no interim answers.
    this.#awaited = request.httpVersion === '1.1' && /^100-continue$/i.test(request.headers.expect ?? '');
    if (announcesBody(request.headers)) {
      // A disconnect raises an error event, also after the reading has ended.
      request.on('error', () => undefined).on('data', (chunk: Buffer) => this.#take(chunk));
    }
  }

  /** Whether the rest of an unread body makes the connection unusable. */
  get spoilsConnection(): boolean {
    return this.#refused || this.#awaited || this.#isTooLarge;
  }

  read(): Promise<Buffer> {
    this.#reading ??= this.#read();
    return this.#reading;
  }

  /** Ends the reading as if the body were too slow. */
  giveUp(): void {
    this.#endFlow();
  }

  async #read(): Promise<Buffer> {
    if (this.#isTooLarge) {
      throw this.#refusal(413, 'The body is too large.');
    }
    if (this.#awaited) {
      this.response.writeContinue();
      this.#awaited = false;
    }
    const end = await this.#flow(this.readTimeoutMs, () => this.#isTooLarge);
    if (end === 'complete') {
      return this.#block.subarray(0, this.#size);
    }
    throw end === 'stopped'
      ? this.#refusal(413, 'The body is too large.')
      : this.#refusal(408, 'The body did not arrive in time.');
  }

  /** Discards the rest of a body that spoils its connection, within bounds. */
  async discard(): Promise<void> {
    // A client that awaits 100 Continue sends nothing.
    if (!this.#awaited && !this.request.complete) {
      const isEnough = () => this.#droppedBytes >= MAX_DISCARDED_BYTES;
      await this.#flow(DISCARD_TIMEOUT_MS, isEnough).catch(() => undefined);
    }
  }

  get #isTooLarge(): boolean {
    return this.#droppedBytes > 0 || Number(this.request.headers['content-length'] ?? 0) > MAX_BODY_BYTES;
  }

  #take(chunk: Buffer): void {
    const size = this.#size + chunk.length;
    if (size > MAX_BODY_BYTES) {
      this.#droppedBytes += chunk.length;
      // No answer is worth waiting for, for example behind one that the client does not read.
      if (this.#droppedBytes > 2 * MAX_DISCARDED_BYTES) {
        this.request.destroy();
      }
      return;
    }
    if (size > this.#block.length) {
      const block = Buffer.alloc(Math.min(MAX_BODY_BYTES, Math.max(size, 2 * this.#block.length)));
      block.set(this.#block.subarray(0, this.#size));
      this.#block = block;
    }
    this.#block.set(chunk, this.#size);
    this.#size = size;
  }

  #refusal(status: 408 | 413, message: string): BodyRefusal {
    this.#refused = true;
    return new BodyRefusal(status, message);
  }

  #flow(timeoutMs: number, isEnough: () => boolean): Promise<'complete' | 'stopped' | 'timed out'> {
    const { request } = this;
    return new Promise((resolve, reject) => {
      const settle = (settled: () => void) => {
        clearTimeout(timer);
        request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
        settled();
      };
      const onData = () => isEnough() && settle(() => resolve('stopped'));
      const onEnd = () => settle(() => resolve('complete'));
      const onGone = () => settle(() => reject(new ClientLeft()));
      this.#endFlow = () => settle(() => resolve('timed out'));
      const timer = setTimeout(this.#endFlow, timeoutMs);
      request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
      if (request.readableEnded) {
        onEnd();
      } else if (request.destroyed) {
        onGone();
      }
    });
  }
}

/** A refusal of a body by its size, type or speed. */
export class BodyRefusal extends ServiceError {
  constructor(
    readonly status: 408 | 413 | 415,
    message: string,
  ) {
    super(ErrorCode.INVALID_REQUEST, message);
    this.name = 'BodyRefusal';
  }
}

/** The logged status of a request whose client left before the answer began; also in metrics. */
export const CLIENT_LEFT = 499;

/** The client disconnected before its answer was begun, so none can be sent. */
export class ClientLeft extends Error {
  readonly code = 'ERR_STREAM_PREMATURE_CLOSE';

  constructor() {
    super('the client left before it was answered');
    this.name = 'ClientLeft';
  }
}
