import type { ClientReadableStream, ServiceError as GrpcFailure } from '@grpc/grpc-js';
import { fromStatus } from './error-trailer.js';

type Incoming = ClientReadableStream<Buffer>;

/** Streams of objects would take 16 messages ahead of their reader. One is enough for reading and receiving at once. */
const AHEAD = 2;

interface ReadOptions<T> {
  open: () => Incoming;
  deserialize: (bytes: Buffer) => T;
  /** How long each message may be waited for. */
  waitMs: number | undefined;
}

/**
 * What a call brings, one message after the other, from when it is first asked for until whoever reads has enough. From the events of the call, because the
 * iterator that streams have of their own costs more than all the rest of a short answer. Messages that are not asked for yet stay bytes, which take a
 * fraction of the memory.
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
        return { done: false, value: this.options.deserialize(bytes) };
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

  /** One that waits for a message hears of it at once. */
  async return(): Promise<IteratorResult<T>> {
    if (!this.#over) {
      this.#over = true;
      this.#call?.cancel();
    }
    return { done: true, value: undefined };
  }

  #open(): Incoming | undefined {
    if (this.#over) {
      return undefined;
    }
    const call = this.options.open();
    (call as unknown as { _readableState: { highWaterMark: number } })._readableState.highWaterMark = AHEAD;
    const end = () => {
      this.#over = true;
      this.#wake();
    };
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
