import type { RateLimit } from '../../errors/service-error.js';
import type { Clock } from '../clock.js';

export interface Rate {
  readonly limit: number;
  readonly windowMs: number;
}

interface Window {
  startedAt: number;
  used: number;
}

const SWEEP_ABOVE = 10_000;
/** A sweep visits every caller, so not one sweep per new caller. */
const SWEEP_EVERY_MS = 1_000;

/** Counts calls per caller in fixed windows, in memory: a restart resets them, and each node has its own. */
export class RateLimiter {
  readonly #windows = new Map<string, Window>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly rate: Rate,
    private readonly clock: Clock,
  ) {}

  /** The number of callers in memory. */
  get size(): number {
    return this.#windows.size;
  }

  take(caller: string): RateLimit & { allowed: boolean } {
    const now = this.clock();
    const window = this.#presentOf(caller, now) ?? this.#fresh(caller, now);
    const allowed = window.used < this.rate.limit;
    if (allowed) {
      window.used += 1;
    }
    return { allowed, ...this.#standing(window, now) };
  }

  /** Without counting a call. */
  standing(caller: string): RateLimit {
    const now = this.clock();
    return this.#standing(this.#presentOf(caller, now) ?? { startedAt: now, used: 0 }, now);
  }

  #standing({ startedAt, used }: Window, now: number): RateLimit {
    return {
      limit: this.rate.limit,
      remaining: this.rate.limit - used,
      resetSeconds: Math.ceil((startedAt + this.rate.windowMs - now) / 1_000),
    };
  }

  /** A clock that was set back ends the window, which would otherwise last until it caught up. */
  #presentOf(caller: string, now: number): Window | undefined {
    const window = this.#windows.get(caller);
    const isPresent = window && now >= window.startedAt && now < window.startedAt + this.rate.windowMs;
    return isPresent ? window : undefined;
  }

  #fresh(caller: string, now: number): Window {
    if (this.#windows.size > SWEEP_ABOVE && Math.abs(now - this.#sweptAt) >= SWEEP_EVERY_MS) {
      this.#sweep(now);
    }
    const fresh = { startedAt: now, used: 0 };
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
