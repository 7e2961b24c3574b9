import type { Call } from '../../../generated/proto/integration/calls/v1/calls.js';
import { repeatableMethods } from '../../../generated/proto/rights.js';
import { ErrorCode, internalError, NotReached, ServiceError } from '../../errors/service-error.js';
import { currentTraceparent } from '../../telemetry/tracing.js';
import type { CallOptions } from '../call-metadata.js';
import type { AnyMethod } from '../handlers.js';
import { CallStream, type Exchange } from './call-stream.js';
import { LONGEST_MS, MAX_CALLS_UNDER_WAY, MAX_ID_CHARACTERS, MAX_REQUEST_BYTES } from './frames.js';

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

/** Beyond it, a call that was never sent fails too: streams break faster than they take calls. */
const MOST_MOVES = 3;

interface Settled {
  resolve(answer: unknown): void;
  reject(reason: unknown): void;
  /** Called once, however the call ended. */
  ended(): void;
}

/** A call at the caller. Its answer, its deadline or its signal ends it, whichever comes first. */
export class PendingCall {
  /** The stream it is in, and its id there. */
  stream: CallStream | undefined;
  id = 0;
  isSent = false;
  #moves = 0;
  #wasRepeated = false;
  readonly #endsAt: number;
  /** Read here, in the context of the caller: frames are made outside it. */
  readonly #traceparent = currentTraceparent();
  readonly #deadline: NodeJS.Timeout;

  constructor(
    private readonly method: AnyMethod,
    readonly message: Buffer,
    private readonly options: CallOptions,
    deadlineMs: number,
    private readonly settled: Settled,
  ) {
    this.#endsAt = performance.now() + deadlineMs;
    this.#deadline = setTimeout(
      () => this.#leave(new NotReached('DEADLINE_EXCEEDED: no answer came in time')),
      Math.min(deadlineMs, LONGEST_MS),
    );
    options.signal?.addEventListener('abort', this.#abort);
  }

  frame(): Call {
    const { requestId, onBehalfOf } = this.options;
    return {
      id: this.id,
      method: this.method.path,
      requestId: requestId.slice(0, MAX_ID_CHARACTERS),
      onBehalfOf: onBehalfOf?.slice(0, MAX_ID_CHARACTERS),
      timeoutMs: Math.min(Math.max(1, Math.ceil(this.#endsAt - performance.now())), LONGEST_MS),
      message: this.message,
      traceparent: this.#traceparent,
    };
  }

  /** Whether it may go into another stream: a sent call only if it is safe to repeat, and once. */
  move(): boolean {
    if (this.isSent) {
      if (this.#wasRepeated || !repeatableMethods.has(this.method.path)) {
        return false;
      }
      this.#wasRepeated = true;
      this.isSent = false;
    }
    this.#moves += 1;
    return this.#moves <= MOST_MOVES;
  }

  answered(bytes: Buffer): void {
    let answer: unknown;
    try {
      answer = this.method.responseDeserialize(bytes);
    } catch (error) {
      this.failed(internalError(error));
      return;
    }
    this.#over();
    this.settled.resolve(answer);
  }

  failed(error: ServiceError): void {
    this.#over();
    this.settled.reject(error);
  }

  readonly #abort = (): void => this.#leave(this.options.signal?.reason);

  #leave(reason: unknown): void {
    this.stream?.leave(this);
    this.#over();
    this.settled.reject(reason);
  }

  #over(): void {
    clearTimeout(this.#deadline);
    this.options.signal?.removeEventListener('abort', this.#abort);
    this.settled.ended();
  }
}
