import { BinaryReader } from '@bufbuild/protobuf/wire';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import {
  type Call,
  ExchangeRequest,
  ExchangeResponse,
} from '../../../generated/proto/integration/calls/v1/calls.js';
import { ErrorCode, internalError, ServiceError } from '../../errors/service-error.js';
import { inNextTurn } from '../../fairness/turns.js';
import { encoded } from '../bytes.js';
import {
  loggableOnBehalfOf,
  loggableRequestId,
  recordableOnBehalfOf,
  remoteAddressOf,
} from '../call-metadata.js';
import type { Identity } from '../callers.js';
import type { Endpoint } from '../endpoint.js';
import { failureOf, toDetail } from '../error-trailer.js';
import type { AdmittedCall, AdmittedStream, Gate } from '../gate.js';
import { type CallContext, messageIn } from '../handlers.js';
import { notRead, READER_PATIENCE_MS } from '../message-streams.js';
import {
  BATCH_BYTES,
  BATCH_CALLS,
  LONGEST_MS,
  MAX_ANSWER_BYTES,
  MAX_CALLS_UNDER_WAY,
  MAX_REQUEST_BYTES,
} from './frames.js';

/** The open streams of calls of a server, and the methods that can be called in them. */
export class ServedStreams {
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #open = new Set<ServedStream>();
  readonly #load: Load = { calls: 0, waitingBytes: 0 };
  #isDraining = false;

  constructor(
    private readonly gate: Gate,
    private readonly exchange: Endpoint,
  ) {}

  add(endpoint: Endpoint): void {
    this.#endpoints.set(endpoint.method.path, endpoint);
  }

  get hasMethods(): boolean {
    return this.#endpoints.size > 0;
  }

  readonly handle = (call: ServerDuplexStream<Buffer, Buffer>): void => {
    const admitted = this.gate.callOf(call.metadata);
    const stream = new ServedStream(call, admitted, {
      endpoints: this.#endpoints,
      gate: this.gate,
      exchange: this.exchange,
      load: this.#load,
      onOver: () => {
        this.#open.delete(stream);
        this.exchange.ended(admitted, call.cancelled);
      },
    });
    this.#open.add(stream);
    if (this.#isDraining) {
      stream.drain();
    }
  };

  /** Each stream ends once its peer has ended its side and received every answer. */
  drain(): void {
    this.#isDraining = true;
    for (const stream of this.#open) {
      stream.drain();
    }
  }
}

/** Written but not yet received by the peer: enough to keep the connection busy. */
const MAX_UNREAD_BYTES = 256 * 1_024;
/** Answers waiting to be written. Above it, a failure replaces the answer. */
const MAX_WAITING_BYTES = 4 * MAX_ANSWER_BYTES;
/** The number of the field `calls` in `ExchangeRequest`. */
const CALLS_FIELD = 1;
/** Limits for all streams together, so that an edge that reads nothing leaves room for others. */
const MAX_WAITING_BYTES_IN_ALL = 4 * MAX_WAITING_BYTES;
const MAX_CALLS_IN_ALL = 4 * MAX_CALLS_UNDER_WAY;

/** What all streams of a server have under way. */
interface Load {
  calls: number;
  waitingBytes: number;
}

interface ServedStreamOptions {
  endpoints: ReadonlyMap<string, Endpoint>;
  /** The method of the stream itself. */
  exchange: Endpoint;
  load: Load;
  gate: Gate;
  onOver(): void;
}

/** With neither, the call was cancelled. */
interface Outcome {
  id: number;
  message?: Buffer;
  error?: ServiceError;
}

/**
 * The server's side of a stream of calls. Each passes gate, handler, log, metrics and audit like a gRPC call.
 * Answers of one turn are written together. While the peer reads no answers, its calls are not read.
 */
class ServedStream {
  readonly #underWay = new Map<number, ServedCall>();
  #outcomes: Outcome[] = [];
  #waitingBytes = 0;
  #unreadBytes = 0;
  #lastId = 0;
  #isGoingAway = false;
  #isBlocked = false;
  #isOver = false;
  #hasPeerEnded = false;
  #hasEnded = false;
  readonly #flushSoon = inNextTurn(() => this.#flush());
  #patience: NodeJS.Timeout | undefined;
  readonly #remoteAddress: string | undefined;

  constructor(
    private readonly call: ServerDuplexStream<Buffer, Buffer>,
    private readonly admitted: AdmittedStream,
    private readonly options: ServedStreamOptions,
  ) {
    this.#remoteAddress = remoteAddressOf(admitted.peer);
    call.on('data', (bytes: Buffer) => this.#read(bytes));
    call.once('end', () => {
      this.#hasPeerEnded = true;
      this.#flushSoon();
    });
    call.once('close', () => this.#over());
    call.on('error', () => this.#over());
  }

  /** Tells the peer to use another stream. Calls that it sent before are still answered. */
  drain(): void {
    this.#isGoingAway = true;
    this.#flushSoon();
  }

  #read(bytes: Buffer): void {
    if (this.#isOver || this.admitted.endedWith) {
      return;
    }
    const request = decoded(bytes);
    if (!request) {
      this.admitted.end(unreadable());
      return;
    }
    for (const frame of request.calls) {
      if (frame.id <= this.#lastId) {
        this.admitted.end(unreadable());
        return;
      }
      this.#lastId = frame.id;
      this.#begin(frame);
    }
    for (const id of request.cancelledIds) {
      this.#underWay.get(id)?.cancel();
    }
  }

  #begin(frame: Call): void {
    const call = new ServedCall(frame, this.admitted, this.#remoteAddress);
    this.#underWay.set(call.id, call);
    this.options.load.calls += 1;
    void this.#serve(call, frame);
  }

  async #serve(call: ServedCall, frame: Call): Promise<void> {
    let endpoint: Endpoint | undefined;
    let failure: ServiceError | undefined;
    let answer: Buffer | undefined;
    try {
      this.options.gate.admitInStream(frame.method, call);
      endpoint = this.options.endpoints.get(frame.method) ?? this.options.exchange;
      this.#assertRoom();
      recordableOnBehalfOf([frame.onBehalfOf]);
      answer = assertFits(await endpoint.answer(messageOf(endpoint, frame), call));
    } catch (thrown) {
      failure = failureOf(thrown);
    }
    call.over();
    this.#underWay.delete(call.id);
    this.options.load.calls -= 1;
    if (!this.#isOver) {
      this.#tell({ id: call.id, ...(!call.isCancelled && { message: answer, error: failure }) });
    }
    endpoint?.ended(call, call.isCancelled, failure);
  }

  #assertRoom(): void {
    if (this.#underWay.size > MAX_CALLS_UNDER_WAY || this.options.load.calls > MAX_CALLS_IN_ALL) {
      const message = 'Too many calls are under way. Please try again shortly.';
      throw new ServiceError(ErrorCode.UNAVAILABLE, message, { retryAfterSeconds: 1 });
    }
  }

  #tell(outcome: Outcome): void {
    const bytes = sizeOf(outcome);
    const isTooMuch =
      this.#waitingBytes + bytes > MAX_WAITING_BYTES ||
      this.options.load.waitingBytes + bytes > MAX_WAITING_BYTES_IN_ALL;
    if (isTooMuch && this.#waitingBytes > 0 && bytes > 0) {
      const message = 'Earlier answers have not been read yet.';
      const error = new ServiceError(ErrorCode.UNAVAILABLE, message, { retryAfterSeconds: 1 });
      this.#tell({ id: outcome.id, error });
      return;
    }
    this.#count(bytes);
    this.#outcomes.push(outcome);
    this.#flushSoon();
  }

  #count(bytes: number): void {
    this.#waitingBytes += bytes;
    this.options.load.waitingBytes += bytes;
  }

  #flush(): void {
    if (this.#isOver || this.#hasEnded || this.admitted.endedWith) {
      return;
    }
    while (!this.#isBlocked && (this.#outcomes.length > 0 || this.#isGoingAway)) {
      this.#write(this.#nextMessage());
    }
    if (this.#hasPeerEnded && this.#underWay.size === 0 && this.#outcomes.length === 0) {
      this.#hasEnded = true;
      this.call.end();
    }
  }

  /** Limits unread bytes, where grpc-js limits unread messages. */
  #write(bytes: Buffer): void {
    this.#unreadBytes += bytes.length;
    if (this.#unreadBytes > MAX_UNREAD_BYTES) {
      this.#block();
    }
    this.call.write(bytes, () => {
      this.#unreadBytes -= bytes.length;
      if (this.#isBlocked && this.#unreadBytes <= MAX_UNREAD_BYTES) {
        this.#unblock();
      }
    });
  }

  #nextMessage(): Buffer {
    const response: ExchangeResponse = {
      ...{ answers: [], failures: [], endedIds: [], goingAway: this.#isGoingAway },
    };
    this.#isGoingAway = false;
    let taken = 0;
    let bytes = 0;
    for (const outcome of this.#outcomes) {
      const size = sizeOf(outcome);
      if (taken > 0 && (bytes + size > BATCH_BYTES || taken === BATCH_CALLS)) {
        break;
      }
      taken += 1;
      bytes += size;
      const { id, message, error } = outcome;
      if (message) {
        response.answers.push({ id, message });
      } else if (error) {
        response.failures.push({ id, error: toDetail(error) });
      } else {
        response.endedIds.push(id);
      }
    }
    this.#outcomes = taken === this.#outcomes.length ? [] : this.#outcomes.slice(taken);
    this.#count(-bytes);
    return encoded(ExchangeResponse, response);
  }

  #block(): void {
    this.#isBlocked = true;
    this.call.pause();
    this.#patience = setTimeout(() => this.admitted.end(notRead()), READER_PATIENCE_MS).unref();
  }

  #unblock(): void {
    this.#isBlocked = false;
    clearTimeout(this.#patience);
    this.call.resume();
    this.#flush();
  }

  #over(): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    this.#count(-this.#waitingBytes);
    clearTimeout(this.#patience);
    for (const call of this.#underWay.values()) {
      call.cancel();
    }
    this.options.onOver();
  }
}

/** Counts before it decodes: tiny frames would fill the largest message with a hundred thousand calls. */
function decoded(bytes: Buffer): ExchangeRequest | undefined {
  try {
    return countCalls(bytes) > BATCH_CALLS ? undefined : ExchangeRequest.decode(bytes);
  } catch {
    return undefined;
  }
}

function countCalls(bytes: Buffer): number {
  const reader = new BinaryReader(bytes);
  let calls = 0;
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    calls += field === CALLS_FIELD ? 1 : 0;
    reader.skip(type, field);
  }
  return calls;
}

function messageOf({ method }: Endpoint, { message, timeoutMs }: Call): unknown {
  if (timeoutMs === 0 || message.length > MAX_REQUEST_BYTES) {
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The call has no deadline, or is too large.');
  }
  return messageIn(method, message);
}

function assertFits(answer: Buffer): Buffer {
  if (answer.length > MAX_ANSWER_BYTES) {
    throw internalError(new Error(`the answer has ${answer.length} bytes, which is more than one may have`));
  }
  return answer;
}

/** Failures are small and always accepted. */
function sizeOf({ message }: Outcome): number {
  return message?.length ?? 0;
}

function unreadable(): ServiceError {
  return new ServiceError(ErrorCode.INVALID_REQUEST, 'The frames of this stream cannot be read.');
}

/** One call of a stream at the server, and the context of its handler. */
class ServedCall implements AdmittedCall, CallContext {
  readonly id: number;
  readonly startedAt = performance.now();
  readonly requestId: string;
  readonly identity: Identity;
  readonly onBehalfOf: string | undefined;
  readonly traceparent: string | undefined;
  operation: string | undefined;
  isCancelled = false;
  #controller: AbortController | undefined;
  readonly #deadline: NodeJS.Timeout;

  constructor(
    frame: Call,
    private readonly stream: AdmittedStream,
    readonly remoteAddress: string | undefined,
  ) {
    this.id = frame.id;
    this.requestId = loggableRequestId(frame.requestId);
    // The gate updates it whenever it checks the token again.
    this.identity = stream.identity as Identity;
    this.onBehalfOf = loggableOnBehalfOf([frame.onBehalfOf]);
    this.traceparent = frame.traceparent;
    this.#deadline = setTimeout(() => this.cancel(), Math.min(frame.timeoutMs, LONGEST_MS));
  }

  get peer(): string {
    return this.stream.peer;
  }

  get endedWith() {
    return this.stream.endedWith;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isCancelled) {
      this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Aborts the handler. Its caller learns that the call has ended, and gets no answer. */
  cancel(): void {
    this.over();
    this.isCancelled = true;
    this.#controller?.abort();
  }

  over(): void {
    clearTimeout(this.#deadline);
  }
}
