import type { ServiceError } from '../../errors/service-error.js';
import { notReached } from '../error-trailer.js';
import { CallStream, type Exchange } from './call-stream.js';
import type { PendingCall } from './pending-call.js';

export interface CallLaneOptions {
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
export class CallLane {
  #stream: CallStream | undefined;
  readonly #open = new Set<CallStream>();

  constructor(private readonly options: CallLaneOptions) {}

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
        onMoved(unsent, notReached('the server is going away'));
      },
      onBroken: (calls, error) => {
        const wasCurrent = this.#stream === stream;
        const wasOpen = this.#open.delete(stream);
        this.#replace(stream);
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
