import type { ClientReadableStream, ServiceError as GrpcFailure } from '@grpc/grpc-js';
import { fromStatus } from '../error-trailer.js';

type Incoming = ClientReadableStream<Buffer>;

/** Object streams buffer 16 messages by default. One ahead suffices to receive during the reading. */
const AHEAD = 2;

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
