import type { Call } from '../../../generated/proto/integration/calls/v1/calls.js';
import { loggableOnBehalfOf, loggableRequestId } from '../call-metadata.js';
import type { Identity } from '../callers.js';
import type { AdmittedCall, AdmittedStream } from '../gate.js';
import type { CallContext } from '../handlers.js';
import { LONGEST_MS } from './frames.js';

/** One call of a stream at the server, and the context of its handler. */
export class ServedCall implements AdmittedCall, CallContext {
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
