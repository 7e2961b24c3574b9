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

/** Counts the calls of each caller in fixed windows, in memory: a restart forgives, and each domain node counts its own. */
export class RateLimiter {
  readonly #windows = new Map<string, Window>();

  constructor(
    private readonly rate: Rate,
    private readonly clock: Clock,
  ) {}

  /** How many callers are kept in memory. */
  get size(): number {
    return this.#windows.size;
  }

  take(caller: string): RateLimit & { allowed: boolean } {
    const now = this.clock();
    const window = this.#windowOf(caller, now);
    const allowed = window.used < this.rate.limit;
    if (allowed) {
      window.used += 1;
    }
    return {
      allowed,
      limit: this.rate.limit,
      remaining: this.rate.limit - window.used,
      resetSeconds: Math.ceil((window.startedAt + this.rate.windowMs - now) / 1_000),
    };
  }

  #windowOf(caller: string, now: number): Window {
    const present = this.#windows.get(caller);
    // A clock that was put back opens a fresh window too, or it would last until the clock caught up.
    if (present && now >= present.startedAt && now < present.startedAt + this.rate.windowMs) {
      return present;
    }
    if (this.#windows.size > SWEEP_ABOVE) {
      this.#sweep(now);
    }
    const fresh = { startedAt: now, used: 0 };
    this.#windows.set(caller, fresh);
    return fresh;
  }

  #sweep(now: number): void {
    for (const [caller, { startedAt }] of this.#windows) {
      if (now >= startedAt + this.rate.windowMs) {
        this.#windows.delete(caller);
      }
    }
  }
}
