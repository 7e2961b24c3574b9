import { type ClientDuplexStream, status } from '@grpc/grpc-js';
import type {
  Call,
  ExchangeRequest,
  ExchangeResponse,
} from '../../../generated/proto/integration/calls/v1/calls.js';
import { ErrorCode, internalError, NotReached, type ServiceError } from '../../errors/service-error.js';
import { inNextTurn } from '../../fairness/turns.js';
import { type FailedCall, fromDetail, fromStatus, hasDetail } from '../error-trailer.js';
import { BATCH_BYTES, BATCH_CALLS, MAX_SENT, MAX_WRITES } from './frames.js';
import type { PendingCall } from './streamed-calls.js';

export type Exchange = ClientDuplexStream<ExchangeRequest, ExchangeResponse>;

/** Ids are uint32 and never used twice. */
const LAST_ID = 2 ** 32 - 1;

interface CallStreamOptions {
  /** The stream takes no more calls. These have not been sent. */
  onLeft(unsent: readonly PendingCall[]): void;
  /** The server announced its shutdown. Called before `onLeft`. */
  onGoingAway(): void;
  /** The stream broke while these were under way. */
  onBroken(calls: readonly PendingCall[], error: ServiceError): void;
  lastId?: number;
}

/** The caller's side of a stream of calls. Calls wait here until they can be written, or are cancelled. */
export class CallStream {
  /** Undefined for those that were cancelled and have not ended at the server. */
  readonly #calls = new Map<number, PendingCall | undefined>();
  readonly #unsent = new Set<PendingCall>();
  #cancelledIds: number[] = [];
  #id = 0;
  #writes = 0;
  readonly #flushSoon = inNextTurn(() => this.#flush());
  #hasLeft = false;
  #hasEnded = false;

  constructor(
    private readonly exchange: Exchange,
    private readonly options: CallStreamOptions,
  ) {
    exchange.on('data', (response: ExchangeResponse) => this.#read(response));
    exchange.on('end', () => setImmediate(() => this.#break(new NotReached('the stream ended'))));
    exchange.on('error', (failure: unknown) => this.#break(reasonOf(failure as FailedCall)));
  }

  /** Cancelled calls count until they have ended at the server. */
  get underWay(): number {
    return this.#calls.size;
  }

  add(call: PendingCall): void {
    this.#id += 1;
    call.stream = this;
    call.id = this.#id;
    this.#calls.set(call.id, call);
    this.#unsent.add(call);
    this.#flushSoon();
    if (this.#id === (this.options.lastId ?? LAST_ID)) {
      this.#flush();
      this.#leaveAll();
    }
  }

  /** Cancels the call. */
  leave(call: PendingCall): void {
    if (this.#unsent.delete(call)) {
      this.#calls.delete(call.id);
    } else if (this.#calls.has(call.id)) {
      this.#calls.set(call.id, undefined);
      this.#cancelledIds.push(call.id);
    }
    this.#flushSoon();
  }

  /** Takes no more calls; those that were sent are still answered. */
  retire(): void {
    this.#leaveAll();
    this.#endIfDone();
  }

  close(error: ServiceError): void {
    this.#break(error);
    this.exchange.cancel();
  }

  #read({ answers, failures, goingAway, endedIds }: ExchangeResponse): void {
    for (const { id, message } of answers) {
      this.#take(id)?.answered(message);
    }
    for (const { id, error } of failures) {
      this.#take(id)?.failed(
        error ? fromDetail(error) : internalError(new Error('a failure without an error')),
      );
    }
    for (const id of endedIds) {
      this.#take(id)?.failed(new NotReached('the call ended without an answer'));
    }
    if (goingAway) {
      this.options.onGoingAway();
      this.#leaveAll();
    }
    if (this.#unsent.size > 0) {
      this.#flushSoon();
    }
    this.#endIfDone();
  }

  /** Undefined if the call has ended. */
  #take(id: number): PendingCall | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }

  #flush(): void {
    while (this.#writes < MAX_WRITES && !this.#hasEnded && this.#hasSomethingToSend) {
      this.#writes += 1;
      this.exchange.write(this.#nextMessage(), () => {
        this.#writes -= 1;
        this.#flush();
      });
    }
    this.#endIfDone();
  }

  get #sent(): number {
    return this.#calls.size - this.#unsent.size;
  }

  get #hasSomethingToSend(): boolean {
    return this.#cancelledIds.length > 0 || (this.#unsent.size > 0 && this.#sent < MAX_SENT);
  }

  #nextMessage(): ExchangeRequest {
    const calls: Call[] = [];
    let bytes = 0;
    for (const call of this.#unsent) {
      bytes += call.message.length;
      const isFull = calls.length > 0 && (bytes > BATCH_BYTES || calls.length === BATCH_CALLS);
      if (isFull || this.#sent === MAX_SENT) {
        break;
      }
      this.#unsent.delete(call);
      call.isSent = true;
      calls.push(call.frame());
    }
    const cancelledIds = this.#cancelledIds;
    this.#cancelledIds = [];
    return { calls, cancelledIds };
  }

  /** Takes no more calls, and still receives the answers of those that were sent. */
  #leaveAll(): void {
    if (!this.#hasLeft) {
      this.#hasLeft = true;
      const unsent = [...this.#unsent];
      this.#unsent.clear();
      for (const { id } of unsent) {
        this.#calls.delete(id);
      }
      this.options.onLeft(unsent);
    }
  }

  #endIfDone(): void {
    if (this.#hasLeft && !this.#hasEnded && this.#calls.size === 0 && !this.#hasSomethingToSend) {
      this.#hasEnded = true;
      this.exchange.end();
    }
  }

  #break(error: ServiceError): void {
    this.#hasLeft = true;
    this.#hasEnded = true;
    this.#unsent.clear();
    const calls = [...this.#calls.values()].filter((call) => call !== undefined);
    this.#calls.clear();
    this.options.onBroken(calls, error);
  }
}

/** A status without the detail of a refusal means that the stream broke. */
function reasonOf(failure: FailedCall): ServiceError {
  if (!hasDetail(failure)) {
    return new NotReached(`${status[failure.code]}: ${failure.details}`);
  }
  const error = fromStatus(failure);
  // Of the stream, which is ours, and not of the requests in it.
  return error.code === ErrorCode.INVALID_REQUEST ? internalError(error) : error;
}
