import { type ClientDuplexStream, type ServiceError as GrpcFailure, status } from '@grpc/grpc-js';
import { fromStatus } from '../error-trailer.js';

export interface QuestionOptions {
  deadlineMs: number;
  /** Cancels the question, with the reason as its error. */
  signal?: AbortSignal;
}

/** A server may end a call after a minute to check the token again; we end it before, between questions. */
const LONGEST_CALL_MS = 45_000;
/** A stopping server waits for its calls, but not for an idle one. */
const QUIET_MS = 1_000;

interface Asked<Answer> {
  resolve: (answer: Answer) => void;
  reject: (reason: unknown) => void;
}

/**
 * A call that stays open for many questions, answered one by one: separate calls cost both sides several
 * times as much. Opened by the first question, and again after it ended.
 */
export class Conversation<Question, Answer> {
  #call: ClientDuplexStream<Question, Answer> | undefined;
  #asked: Asked<Answer> | undefined;
  #openedAt = 0;
  #quiet: NodeJS.Timeout | undefined;

  constructor(private readonly open: () => ClientDuplexStream<Question, Answer>) {}

  async ask(question: Question, { deadlineMs, signal }: QuestionOptions): Promise<Answer> {
    signal?.throwIfAborted();
    if (this.#asked) {
      throw new Error('A question was asked before the one before it was answered.');
    }
    const call = this.#call ?? this.#begin();
    const abort = () => this.#fail(call, signal?.reason);
    const timer = setTimeout(() => this.#fail(call, deadlineExceeded()), deadlineMs);
    signal?.addEventListener('abort', abort);
    try {
      return await new Promise<Answer>((resolve, reject) => {
        this.#asked = { resolve, reject };
        call.write(question);
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  #begin(): ClientDuplexStream<Question, Answer> {
    const call = this.open();
    call.on('data', (answer: Answer) => this.#answer(call, answer));
    call.on('error', (failure: GrpcFailure) => this.#fail(call, fromStatus(failure)));
    call.on('end', () =>
      this.#fail(call, fromStatus({ code: status.UNAVAILABLE, details: 'the call ended' })),
    );
    this.#call = call;
    this.#openedAt = performance.now();
    this.#quiet = setTimeout(() => this.#endQuiet(call), QUIET_MS).unref();
    return call;
  }

  #answer(call: ClientDuplexStream<Question, Answer>, answer: Answer): void {
    if (this.#call === call) {
      this.#settle()?.resolve(answer);
      if (performance.now() - this.#openedAt > LONGEST_CALL_MS) {
        this.#leave(call);
      }
    }
  }

  #endQuiet(call: ClientDuplexStream<Question, Answer>): void {
    if (this.#call === call && !this.#asked) {
      this.#leave(call);
    }
  }

  /** Ends the call when it is idle or too old. */
  #leave(call: ClientDuplexStream<Question, Answer>): void {
    this.#call = undefined;
    clearTimeout(this.#quiet);
    call.end();
  }

  #fail(call: ClientDuplexStream<Question, Answer>, reason: unknown): void {
    if (this.#call === call) {
      this.#leave(call);
      call.cancel();
      this.#settle()?.reject(reason);
    }
  }

  #settle(): Asked<Answer> | undefined {
    const asked = this.#asked;
    this.#asked = undefined;
    this.#quiet?.refresh();
    return asked;
  }
}

function deadlineExceeded() {
  return fromStatus({ code: status.DEADLINE_EXCEEDED, details: 'no answer came in time' });
}
