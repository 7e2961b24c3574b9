import type { AttemptResult } from '../../generated/proto/integration/webhooks/v1/sending.js';
import { backoffDelayMs, pause } from '../../workflows/backoff.js';
import { ErrorCode, NotReached, ServiceError } from '../errors/service-error.js';
import type { Log } from '../telemetry/log.js';
import { BACKOFF } from './waits.js';

export interface EndedAttempt {
  result: AttemptResult;
  /** On the clock of `performance.now()`. */
  leaseEndsAt: number;
}

interface AttemptRecorderOptions {
  record(results: AttemptResult[]): Promise<unknown>;
  /** Called with the number of attempts that are done. */
  onSettled(count: number): void;
  /** With fewer results than this, the recorder waits briefly for more. */
  few?: number;
  log: Log;
}

const MOST_AT_ONCE = 500;
/** A commit costs the same for one result as for many, so a few wait briefly for others. */
export const FEW = 16;
const GATHER_MS = 20;
/** The domain limits the size of a request, and answers of receivers can be long. */
const MOST_BYTES = 192 * 1_024;
const BYTES_BESIDE_TEXTS = 200;

/** Errors about a single result; others mean that the domain takes none now. */
const ABOUT_A_RESULT: ReadonlySet<ErrorCode> = new Set([ErrorCode.INVALID_REQUEST, ErrorCode.INTERNAL_ERROR]);

interface Queue {
  attempts: EndedAttempt[];
  /** The most results in one report. */
  atOnce: number;
}

/**
 * Reports ended attempts to the domain: one call at a time, with all that ended meanwhile. Unrecorded results
 * are kept and repeated without limit: a late success counts, and a lost one would be sent again. Those that
 * failed alone have a queue of their own: their rows may be locked. One that the domain refuses is dropped
 * after its lease, when the domain has recorded it as interrupted.
 */
export class AttemptRecorder {
  readonly #stop = new AbortController();
  readonly #waiting: Queue = { attempts: [], atOnce: MOST_AT_ONCE };
  readonly #failedAlone: Queue = { attempts: [], atOnce: 1 };
  #isTelling = false;
  #failures = 0;
  #failuresSinceWarning = 0;
  #taken = 0;
  readonly #takenWhenRefused = new WeakMap<EndedAttempt, number>();
  #gathering: AbortController | undefined;

  constructor(private readonly options: AttemptRecorderOptions) {}

  add(attempt: EndedAttempt): void {
    this.#waiting.attempts.push(attempt);
    if (!this.#isTelling) {
      this.#isTelling = true;
      void this.#tellAll();
    } else if (!this.#areFew()) {
      this.#gathering?.abort();
    }
  }

  /** Drops unrecorded results. */
  stop(): void {
    this.#stop.abort();
  }

  /** Each round reports all new results, then some that failed alone, which may wait for a lock. */
  async #tellAll(): Promise<void> {
    const { signal } = this.#stop;
    const [waiting, failedAlone] = [this.#waiting.attempts, this.#failedAlone.attempts];
    while (waiting.length + failedAlone.length > 0 && !signal.aborted) {
      await this.#gather();
      for (let left = waiting.length; left > 0 && !signal.aborted; ) {
        left -= await this.#tell(this.#waiting);
      }
      if (failedAlone.length > 0 && (this.#failures === 0 || waiting.length === 0) && !signal.aborted) {
        await this.#tell(this.#failedAlone);
      }
    }
    this.#isTelling = false;
  }

  /** Reports the first of a queue. Returns how many have left it. */
  async #tell(queue: Queue): Promise<number> {
    const batch = queue.attempts.splice(0, fittingCount(queue));
    try {
      await this.options.record(batch.map(({ result }) => result));
      this.#noteSuccess();
      queue.atOnce = Math.min(MOST_AT_ONCE, queue.atOnce * 2);
      this.options.onSettled(batch.length);
      return batch.length;
    } catch (error) {
      const gone = this.#keep(batch, queue, error);
      const isHalved = batch.length > 1 && !(error instanceof NotReached);
      await pause(backoffDelayMs(isHalved ? 1 : this.#failures, BACKOFF), this.#stop.signal);
      return gone;
    }
  }

  async #gather(): Promise<void> {
    if (this.#areFew()) {
      this.#gathering = new AbortController();
      await pause(GATHER_MS, this.#gathering.signal);
    }
  }

  #areFew(): boolean {
    const { few = FEW } = this.options;
    return this.#waiting.attempts.length < few;
  }

  #noteSuccess(): void {
    if (this.#failuresSinceWarning > 0 && this.#failedAlone.attempts.length === 0) {
      this.options.log.info('webhook attempts are recorded again', { failures: this.#failuresSinceWarning });
      this.#failuresSinceWarning = 0;
    }
    this.#failures = 0;
    this.#taken += 1;
  }

  /** Returns how many have left their queue: one that failed alone. */
  #keep(batch: EndedAttempt[], queue: Queue, error: unknown): number {
    this.#failures += 1;
    this.#failuresSinceWarning += 1;
    const level = this.#failuresSinceWarning === 1 ? 'warn' : 'debug';
    const told = { attempts: batch.length, reason: reasonOf(error) };
    this.options.log[level]('webhook attempts are not recorded for now', told);
    // Also after a time-out: the domain may be too slow for so many.
    queue.atOnce = Math.ceil(batch.length / 2);
    const [first] = batch;
    if (first && batch.length === 1) {
      this.#setAside(first, error);
      return 1;
    }
    queue.attempts.unshift(...batch);
    return 0;
  }

  /** Drops an attempt that the domain refuses, once its lease has ended. */
  #setAside(attempt: EndedAttempt, error: unknown): void {
    if (this.#isWrong(attempt, error) && attempt.leaseEndsAt <= performance.now()) {
      const { deliveryId } = attempt.result;
      this.options.log.error('the domain does not take the result of a webhook attempt', { deliveryId });
      this.options.onSettled(1);
      return;
    }
    this.#failedAlone.attempts.push(attempt);
    this.#failedAlone.atOnce = 1;
  }

  /** Whether the domain refuses this one, and takes others. */
  #isWrong(attempt: EndedAttempt, error: unknown): boolean {
    if (error instanceof ServiceError && !ABOUT_A_RESULT.has(error.code)) {
      return false;
    }
    const isInvalid = error instanceof ServiceError && error.code === ErrorCode.INVALID_REQUEST;
    const takenBefore = this.#takenWhenRefused.get(attempt) ?? this.#taken;
    this.#takenWhenRefused.set(attempt, takenBefore);
    return isInvalid || this.#taken > takenBefore;
  }
}

/** How many of the first fit into one request, at least one. */
function fittingCount({ attempts, atOnce }: Queue): number {
  let bytes = 0;
  const tooMany = attempts.findIndex(({ result: { attempt } }, index) => {
    // A character of a message takes up to three bytes.
    bytes += BYTES_BESIDE_TEXTS + (attempt?.responseStart.length ?? 0) + 3 * (attempt?.message.length ?? 0);
    return index > 0 && (index >= atOnce || bytes > MOST_BYTES);
  });
  return tooMany < 0 ? attempts.length : tooMany;
}

export function reasonOf(error: unknown): string {
  return (error instanceof ServiceError && error.internal) || (error as Error).message;
}
