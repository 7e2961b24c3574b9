import type { AttemptResult } from '../../generated/proto/integration/webhooks/v1/sending.js';
import { backoffDelayMs, pause } from '../../workflows/backoff.js';
import { ErrorCode, ServiceError } from '../errors/service-error.js';
import type { Log } from '../telemetry/log.js';
import { BACKOFF } from './waits.js';

export interface EndedAttempt {
  result: AttemptResult;
  leaseExpiresAt: Date;
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

/**
 * Reports ended attempts to the domain: one call at a time, with all that ended meanwhile. Unrecorded results
 * are kept and repeated without limit: a late success counts, and a lost one would be sent again. A result
 * that fails alone waits behind the others, and is reported alone until one such gets through: its rows may
 * be locked. One that the domain refuses is dropped after its lease, when the domain has recorded it as
 * interrupted.
 */
export class AttemptRecorder {
  readonly #stop = new AbortController();
  #waiting: EndedAttempt[] = [];
  #isTelling = false;
  #failures = 0;
  #taken = 0;
  readonly #takenWhenRefused = new WeakMap<EndedAttempt, number>();
  readonly #failedAlone = new Set<EndedAttempt>();
  #atOnce = MOST_AT_ONCE;
  #gathering: AbortController | undefined;

  constructor(private readonly options: AttemptRecorderOptions) {}

  add(attempt: EndedAttempt): void {
    this.#waiting.push(attempt);
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

  async #tellAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stop.signal.aborted) {
      await this.#gather();
      const batch = this.#waiting.splice(0, fittingCount(this.#waiting, this.#atOnce, this.#failedAlone));
      try {
        await this.options.record(batch.map(({ result }) => result));
        this.#noteSuccess(batch);
        this.options.onSettled(batch.length);
      } catch (error) {
        this.#keep(batch, error);
        await pause(backoffDelayMs(this.#failures, BACKOFF), this.#stop.signal);
      }
    }
    this.#isTelling = false;
  }

  async #gather(): Promise<void> {
    if (this.#areFew()) {
      this.#gathering = new AbortController();
      await pause(GATHER_MS, this.#gathering.signal);
    }
  }

  #areFew(): boolean {
    const { few = FEW } = this.options;
    return this.#waiting.length < few;
  }

  #noteSuccess([first]: readonly EndedAttempt[]): void {
    if (this.#failures > 0) {
      this.options.log.info('webhook attempts are recorded again', { failures: this.#failures });
    }
    this.#failures = 0;
    this.#taken += 1;
    if (this.#failedAlone.has(first as EndedAttempt)) {
      this.#failedAlone.clear();
    }
    this.#atOnce = Math.min(MOST_AT_ONCE, this.#atOnce * 2);
  }

  #keep(batch: EndedAttempt[], error: unknown): void {
    this.#failures += 1;
    this.options.log[this.#failures === 1 ? 'warn' : 'debug']('webhook attempts are not recorded for now', {
      attempts: batch.length,
      reason: reasonOf(error),
    });
    if (batch.length === 1) {
      this.#setAside(batch[0] as EndedAttempt, error);
      return;
    }
    // Also after a time-out: the domain may be too slow for so many.
    this.#atOnce = Math.ceil(batch.length / 2);
    this.#waiting = [...batch, ...this.#waiting];
  }

  /** Moves it behind all others; drops one after its lease that the domain refuses. */
  #setAside(attempt: EndedAttempt, error: unknown): void {
    this.#failedAlone.add(attempt);
    if (error instanceof ServiceError && !ABOUT_A_RESULT.has(error.code)) {
      this.#moveBehind(attempt);
      return;
    }
    const isInvalid = error instanceof ServiceError && error.code === ErrorCode.INVALID_REQUEST;
    const takenBefore = this.#takenWhenRefused.get(attempt) ?? this.#taken;
    this.#takenWhenRefused.set(attempt, takenBefore);
    const isWrong = isInvalid || this.#taken > takenBefore;
    if (!isWrong || attempt.leaseExpiresAt.getTime() > Date.now()) {
      this.#moveBehind(attempt);
      return;
    }
    this.#failedAlone.delete(attempt);
    const { deliveryId } = attempt.result;
    this.options.log.error('the domain does not take the result of a webhook attempt', { deliveryId });
    this.options.onSettled(1);
  }

  /** Results that came meanwhile go before all that failed alone, of which each may take seconds again. */
  #moveBehind(attempt: EndedAttempt): void {
    const alone = this.#waiting.filter((one) => this.#failedAlone.has(one));
    const others = this.#waiting.filter((one) => !this.#failedAlone.has(one));
    this.#waiting = [...others, ...alone, attempt];
  }
}

/** How many of the first fit into one request, at least one. Those that are to be alone fit with no other. */
function fittingCount(
  attempts: readonly EndedAttempt[],
  most: number,
  alone: ReadonlySet<EndedAttempt>,
): number {
  let bytes = 0;
  const isFirstAlone = alone.has(attempts[0] as EndedAttempt);
  const tooMany = attempts.findIndex((one, index) => {
    const { attempt } = one.result;
    // A character of a message takes up to three bytes.
    bytes += BYTES_BESIDE_TEXTS + (attempt?.responseStart.length ?? 0) + 3 * (attempt?.message.length ?? 0);
    return index > 0 && (index >= most || bytes > MOST_BYTES || isFirstAlone || alone.has(one));
  });
  return tooMany < 0 ? attempts.length : tooMany;
}

export function reasonOf(error: unknown): string {
  return (error instanceof ServiceError && error.internal) || (error as Error).message;
}
