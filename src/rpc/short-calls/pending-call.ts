import type { Call } from '../../../generated/proto/integration/calls/v1/calls.js';
import { repeatableMethods } from '../../../generated/proto/rights.js';
import { internalError, NotReached, type ServiceError } from '../../errors/service-error.js';
import { currentTraceparent } from '../../telemetry/tracing.js';
import type { CallOptions } from '../call-metadata.js';
import type { AnyMethod } from '../definitions.js';
import type { CallStream } from './call-stream.js';
import { LONGEST_MS, MAX_ID_CHARACTERS } from './frames.js';

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
