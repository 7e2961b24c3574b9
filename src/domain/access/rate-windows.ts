import type { RateLimit } from '../../errors/service-error.js';
import type { Clock } from '../clock.js';

export interface Rate {
  readonly limit: number;
  readonly windowMs: number;
}

export interface Window {
  startedAt: number;
  used: number;
}

const SWEEP_ABOVE = 10_000;
/** A sweep visits every caller, so not one sweep per new caller. */
const SWEEP_EVERY_MS = 1_000;

/** Fixed windows in memory, each from the first call of its caller. */
export class RateWindows<W extends Window> {
  readonly #windows = new Map<string, W>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly rate: Rate,
    private readonly clock: Clock,
    private readonly begin: (caller: string, startedAt: number) => W,
  ) {}

  /** The number of callers in memory. */
  get size(): number {
    return this.#windows.size;
  }

  /** The present window of the caller, or a new one. */
  of(caller: string): W {
    const now = this.clock();
    return this.#presentOf(caller, now) ?? this.#fresh(caller, now);
  }

  /** A clock that was set back ends the window, which would otherwise last until it caught up. */
  isPresent({ startedAt }: Window, now = this.clock()): boolean {
    return now >= startedAt && now < startedAt + this.rate.windowMs;
  }

  standing({ startedAt, used }: Window): RateLimit {
    return {
      limit: this.rate.limit,
      remaining: Math.max(0, this.rate.limit - used),
      resetSeconds: Math.ceil((startedAt + this.rate.windowMs - this.clock()) / 1_000),
    };
  }

  /** Without beginning a window. */
  standingOf(caller: string): RateLimit {
    const now = this.clock();
    return this.standing(this.#presentOf(caller, now) ?? { startedAt: now, used: 0 });
  }

  #presentOf(caller: string, now: number): W | undefined {
    const window = this.#windows.get(caller);
    return window && this.isPresent(window, now) ? window : undefined;
  }

  #fresh(caller: string, now: number): W {
    if (this.#windows.size > SWEEP_ABOVE && Math.abs(now - this.#sweptAt) >= SWEEP_EVERY_MS) {
      this.#sweep(now);
    }
    const fresh = this.begin(caller, now);
    this.#windows.set(caller, fresh);
    return fresh;
  }

  #sweep(now: number): void {
    this.#sweptAt = now;
    for (const [caller, { startedAt }] of this.#windows) {
      if (now >= startedAt + this.rate.windowMs) {
        this.#windows.delete(caller);
      }
    }
  }
}
