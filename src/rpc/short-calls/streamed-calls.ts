import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { CallOptions } from '../call-metadata.js';
import type { AnyMethod } from '../definitions.js';
import { notReached } from '../error-trailer.js';
import { CallStream, type Exchange } from './call-stream.js';
import { MAX_CALLS_UNDER_WAY, MAX_REQUEST_BYTES } from './frames.js';
import { PendingCall } from './pending-call.js';

/**
 * The calls of a channel in one stream, so that many travel as one message. The first call opens it, also
 * after it broke or its server announced its shutdown.
 */
export class StreamedCalls {
  #stream: CallStream | undefined;
  readonly #open = new Set<CallStream>();
  #underWay = 0;
  #isClosed = false;

  constructor(
    private readonly open: () => Exchange,
    private readonly lastId?: number,
  ) {}

  call(method: AnyMethod, request: unknown, options: CallOptions, deadlineMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      options.signal?.throwIfAborted();
      this.#assertRoom();
      const message = messageOf(method, request);
      this.#underWay += 1;
      const ended = () => {
        this.#underWay -= 1;
      };
      const call = new PendingCall(method, message, options, deadlineMs, { resolve, reject, ended });
      this.#place(call);
    });
  }

  /** Later calls go into a new stream, which has the token of that time. */
  renew(): void {
    this.#stream?.retire();
  }

  close(): void {
    this.#isClosed = true;
    for (const stream of this.#open) {
      stream.close(notReached('the channel was closed'));
    }
  }

  #assertRoom(): void {
    if (this.#isClosed) {
      throw notReached('the channel was closed');
    }
    if (this.#underWay >= MAX_CALLS_UNDER_WAY) {
      throw notReached(`${this.#underWay} calls are under way`);
    }
  }

  #place(call: PendingCall): void {
    this.#stream ??= this.#next();
    this.#stream.add(call);
  }

  #next(): CallStream {
    const stream: CallStream = new CallStream(this.open(), {
      lastId: this.lastId,
      onLeft: (unsent) => {
        this.#replace(stream);
        this.#move(unsent, notReached('the server is going away'));
      },
      onBroken: (calls, error) => {
        this.#open.delete(stream);
        this.#replace(stream);
        this.#move(calls, error);
      },
    });
    this.#open.add(stream);
    return stream;
  }

  #replace(stream: CallStream): void {
    if (this.#stream === stream) {
      this.#stream = undefined;
    }
  }

  /** Only what failed as UNAVAILABLE: another stream would be refused alike. */
  #move(calls: readonly PendingCall[], error: ServiceError): void {
    for (const call of calls) {
      if (!this.#isClosed && error.code === ErrorCode.UNAVAILABLE && call.move()) {
        this.#place(call);
      } else {
        call.failed(error);
      }
    }
  }
}

function messageOf(method: AnyMethod, request: unknown): Buffer {
  const message = method.requestSerialize(request);
  if (message.length > MAX_REQUEST_BYTES) {
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The request is larger than 256 KiB.');
  }
  return message;
}
