import { type EventEmitter, once } from 'node:events';
import type { ClientReadableStream, ServiceError as GrpcFailure, ServerWritableStream } from '@grpc/grpc-js';
import { ErrorCode, ServiceError } from '../errors/service-error.js';
import { AtOnce } from '../fairness/at-once.js';
import { fromStatus } from './error-trailer.js';

/** How long the reader of a stream may pause. */
export const READER_PATIENCE_MS = 120_000;

/** Messages that a stream holds: the one in progress and the next (default: 16, each may be a page). */
const AHEAD = 2;

export function notRead(): ServiceError {
  return new ServiceError(ErrorCode.UNAVAILABLE, 'The answer was not read for two minutes.');
}

/** Waits until the peer has read or is gone. Leaves no listener behind, because a stream waits often. */
export async function untilWritable(stream: EventEmitter, gone: 'cancelled' | 'end'): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race(['drain', gone, 'close'].map((event) => once(stream, event, { signal })));
  } finally {
    over.abort();
  }
}

/** Writes at the speed of the peer. */
export async function pump(
  messages: AsyncIterable<unknown>,
  call: ServerWritableStream<unknown, unknown>,
  serialize: (message: unknown) => Buffer,
  onStall: () => void,
): Promise<void> {
  (call as unknown as { _writableState: { highWaterMark: number } })._writableState.highWaterMark = AHEAD;
  for await (const message of messages) {
    if (call.cancelled || call.destroyed) {
      return;
    }
    if (!call.write(serialize(message))) {
      const patience = setTimeout(onStall, READER_PATIENCE_MS).unref();
      await untilWritable(call, 'cancelled').finally(() => clearTimeout(patience));
    }
  }
  call.end();
}

type Incoming = ClientReadableStream<Buffer>;

interface ReadOptions<T> {
  open: () => Incoming;
  deserialize: (bytes: Buffer) => T;
  /** The longest wait for each message. */
  waitMs: number | undefined;
  signal: AbortSignal | undefined;
}

/**
 * The messages of a call, one by one, until the reader stops. Uses the call's events: the iterator of streams
 * costs more than all else of a short answer. Buffered messages stay bytes, which take less memory.
 */
export class MessageReader<T> implements AsyncIterableIterator<T> {
  #call: Incoming | undefined;
  #over = false;
  #failure: GrpcFailure | undefined;
  #wake: () => void = () => undefined;

  constructor(private readonly options: ReadOptions<T>) {}

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T>> {
    const call = this.#call ?? this.#open();
    for (let bytes = call?.read() as Buffer | null | undefined; call; bytes = call.read()) {
      if (bytes) {
        return { done: false, value: this.#decoded(bytes) };
      }
      if (this.#failure) {
        throw fromStatus(this.#failure);
      }
      if (this.#over) {
        break;
      }
      await this.#news(call);
    }
    return { done: true, value: undefined };
  }

  /** Ends the call. A pending read fails as UNAVAILABLE at once. */
  async return(): Promise<IteratorResult<T>> {
    if (!this.#over) {
      this.#over = true;
      this.#call?.cancel();
    }
    return { done: true, value: undefined };
  }

  /** A loop over the messages calls no `return` after a `next` that throws. */
  #decoded(bytes: Buffer): T {
    try {
      return this.options.deserialize(bytes);
    } catch (error) {
      void this.return();
      throw error;
    }
  }

  #open(): Incoming | undefined {
    const { signal } = this.options;
    if (this.#over || signal?.aborted) {
      return undefined;
    }
    const call = this.options.open();
    (call as unknown as { _readableState: { highWaterMark: number } })._readableState.highWaterMark = AHEAD;
    const leave = () => void this.return();
    const end = () => {
      this.#over = true;
      signal?.removeEventListener('abort', leave);
      this.#wake();
    };
    signal?.addEventListener('abort', leave);
    call.on('readable', () => this.#wake());
    call.on('end', end);
    call.on('close', end);
    call.on('error', (failure) => {
      this.#failure ??= failure as GrpcFailure;
      end();
    });
    this.#call = call;
    return call;
  }

  async #news(call: Incoming): Promise<void> {
    const { waitMs } = this.options;
    const patience = waitMs === undefined ? undefined : setTimeout(() => call.cancel(), waitMs);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    clearTimeout(patience);
  }
}

/** Two, so that the next page of a lone list need not wait for the next turn of the event loop. */
const PAGES_AT_ONCE = 2;
/** For this long after a short call, another one is expected. */
const EXPECTED_FOR_MS = 20;
/** Between two deferrable pages: many times as long as a page takes, so that short calls rarely wait. */
const PAUSE_MS = 20;

/**
 * Makes at most a few pages of lists per turn of the event loop, so that other calls run in between.
 * Integrations take turns. While short calls come, deferrable pages (`canWait`) are made with pauses, which
 * leaves domain and edge time for the short calls.
 */
export class PageTurns {
  readonly #prompt = new AtOnce(PAGES_AT_ONCE);
  readonly #patient = new AtOnce(PAGES_AT_ONCE, { pauseMs: () => this.#pauseMs() });
  #shortCallAt = Number.NEGATIVE_INFINITY;
  #patientPageAt = Number.NEGATIVE_INFINITY;

  /** Call it after each short call, and after each list of one page. */
  shortCall(): void {
    this.#shortCallAt = performance.now();
  }

  /** After a page that `isSmall`, the next one begins in the same turn of the event loop. */
  make<T>(
    { integrationId, canWait }: { integrationId: string; canWait: boolean },
    page: () => Promise<T>,
    isSmall: (page: T) => boolean = () => false,
  ): Promise<T> {
    const queue = canWait ? this.#patient : this.#prompt;
    return queue.run(integrationId, page, (made) => !isSmall(made));
  }

  #pauseMs(): number {
    const now = performance.now();
    const isBusy = now < this.#shortCallAt + EXPECTED_FOR_MS;
    this.#patientPageAt = Math.max(now, this.#patientPageAt + (isBusy ? PAUSE_MS : 0));
    return this.#patientPageAt - now;
  }
}
