import { ErrorCode, NotReached, ServiceError } from '../../errors/service-error.js';
import type { CallOptions } from '../call-metadata.js';
import type { AnyMethod } from '../definitions.js';
import { CallStream, type Exchange } from './call-stream.js';
import { MAX_CALLS_UNDER_WAY, MAX_REQUEST_BYTES } from './frames.js';
import { PendingCall } from './pending-call.js';

/** The calls of a channel: many travel as one message in a stream to one of its servers. */
export class StreamedCalls {
  #underWay = 0;
  #isClosed = false;

  /** Chooses the server of a call. */
  constructor(private readonly serverOfNext: () => ServerCalls) {}

  call(method: AnyMethod, request: unknown, options: CallOptions, deadlineMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      options.signal?.throwIfAborted();
      this.#assertRoom();
      const message = messageOf(method, request);
      const server = this.serverOfNext();
      this.#underWay += 1;
      const ended = () => {
        this.#underWay -= 1;
      };
      server.add(new PendingCall(method, message, options, deadlineMs, { resolve, reject, ended }));
    });
  }

  /** Takes no more calls. Those under way fail when their streams break. */
  close(): void {
    this.#isClosed = true;
  }

  /** Only what failed as UNAVAILABLE: another stream would be refused alike. */
  move(calls: readonly PendingCall[], error: ServiceError): void {
    for (const call of calls) {
      if (!this.#isClosed && error.code === ErrorCode.UNAVAILABLE && call.move()) {
        this.serverOfNext().add(call);
      } else {
        call.failed(error);
      }
    }
  }

  #assertRoom(): void {
    if (this.#isClosed) {
      throw new NotReached('the channel was closed');
    }
    if (this.#underWay >= MAX_CALLS_UNDER_WAY) {
      throw new NotReached(`${this.#underWay} calls are under way`);
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

interface ServerCallsOptions {
  open(): Exchange;
  /** These calls need another stream, here or elsewhere, or fail with the error. */
  onMoved(calls: readonly PendingCall[], error: ServiceError): void;
  /** The server announced its shutdown. */
  onGoingAway(): void;
  /** A stream broke, and not by `break`. */
  onLost(error: ServiceError): void;
  lastId?: number;
}

/**
 * The calls to one server, in one stream at a time. The first call opens it, also after it broke or its
 * server announced its shutdown.
 */
export class ServerCalls {
  #stream: CallStream | undefined;
  readonly #open = new Set<CallStream>();

  constructor(private readonly options: ServerCallsOptions) {}

  /** Calls that wait or were sent, cancelled ones included until they have ended. */
  get underWay(): number {
    let calls = 0;
    for (const stream of this.#open) {
      calls += stream.underWay;
    }
    return calls;
  }

  add(call: PendingCall): void {
    this.#stream ??= this.#next();
    this.#stream.add(call);
  }

  /** Later calls go into a new stream, which has the token of that time. */
  renew(): void {
    this.#stream?.retire();
  }

  /** Ends the streams. Calls that cannot move fail with the error. */
  break(error: ServiceError): void {
    const streams = [...this.#open];
    this.#open.clear();
    this.#stream = undefined;
    for (const stream of streams) {
      stream.close(error);
    }
  }

  #next(): CallStream {
    const { open, lastId, onMoved, onGoingAway, onLost } = this.options;
    const stream: CallStream = new CallStream(open(), {
      lastId,
      onGoingAway,
      onLeft: (unsent) => {
        this.#replace(stream);
        onMoved(unsent, new NotReached('the server is going away'));
      },
      onBroken: (calls, error) => {
        const wasCurrent = this.#stream === stream;
        const wasOpen = this.#open.delete(stream);
        this.#replace(stream);
        if (!wasCurrent && error.code === ErrorCode.SERVICE_TOKEN_INVALID) {
          // A replaced stream may have an earlier token; the current stream has the current one.
          onMoved(calls, new NotReached('the token of the stream was revoked'));
          return;
        }
        if (wasOpen && (wasCurrent || calls.length > 0)) {
          onLost(error);
        }
        onMoved(calls, error);
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
}
