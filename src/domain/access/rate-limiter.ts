import { ErrorCode, type KeyHolder, type RateLimit, ServiceError } from '../../errors/service-error.js';
import type { Clock } from '../clock.js';

export type Taken = RateLimit & { allowed: boolean };

/** Refuses a call beyond its limit, with the time to wait; returns where the caller stands. */
export function assertAllowed(
  { allowed, ...rateLimit }: Taken,
  messageOf: (retryAfterSeconds: number) => string,
  keyHolder?: KeyHolder,
): RateLimit {
  if (!allowed) {
    const retryAfterSeconds = rateLimit.resetSeconds;
    const message = messageOf(retryAfterSeconds);
    throw new ServiceError(ErrorCode.RATE_LIMITED, message, { rateLimit, retryAfterSeconds, keyHolder });
  }
  return rateLimit;
}

/** Counts calls per caller in fixed windows. */
export interface CallLimiter {
  /** Counts a call. Close to the limit it may ask for the counts of other nodes, for a bounded time. */
  take(caller: string): Taken | Promise<Taken>;
  /** Without counting a call. */
  standing(caller: string): RateLimit;
}

/** Counts in memory, for a node that is alone: a restart resets the counts. */
export class RateLimiter implements CallLimiter {
  readonly #windows: RateWindows<Window>;

  constructor(
    private readonly rate: Rate,
    clock: Clock,
  ) {
    this.#windows = new RateWindows(rate, clock, (_, startedAt) => ({ startedAt, used: 0 }));
  }

  take(caller: string): Taken {
    const window = this.#windows.of(caller);
    const allowed = window.used < this.rate.limit;
    if (allowed) {
      window.used += 1;
    }
    return { allowed, ...this.#windows.standing(window) };
  }

  standing(caller: string): RateLimit {
    return this.#windows.standingOf(caller);
  }
}

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

/** Fixed windows in memory, each from the first call of its caller. */
export class RateWindows<W extends Window> {
  readonly #windows = new Map<string, W>();
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly rate: Rate,
    private readonly clock: Clock,
    private readonly begin: (caller: string, startedAt: number) => W,
  ) {}

  /** The present window of the caller, or a new one. */
  of(caller: string): W {
    const now = this.clock();
    return this.#presentOf(caller, now) ?? this.#fresh(caller, now);
  }

  /** Whether it is the present window of the caller: another may have replaced it. */
  isPresent(caller: string, window: W): boolean {
    return this.#presentOf(caller, this.clock()) === window;
  }

  /** The window may have ended while the call waited for other nodes. */
  standing({ startedAt, used }: Window): RateLimit {
    return {
      limit: this.rate.limit,
      remaining: Math.max(0, this.rate.limit - used),
      resetSeconds: Math.max(0, Math.ceil((startedAt + this.rate.windowMs - this.clock()) / 1_000)),
    };
  }

  /** Without beginning a window. */
  standingOf(caller: string): RateLimit {
    const now = this.clock();
    return this.standing(this.#presentOf(caller, now) ?? { startedAt: now, used: 0 });
  }

  #presentOf(caller: string, now: number): W | undefined {
    const window = this.#windows.get(caller);
    return window && this.#isAt(now, window) ? window : undefined;
  }

  /** A clock that was set back ends the window, which would otherwise last until it caught up. */
  #isAt(now: number, { startedAt }: Window): boolean {
    return now >= startedAt && now < startedAt + this.rate.windowMs;
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
    for (const [caller, window] of this.#windows) {
      if (!this.#isAt(now, window)) {
        this.#windows.delete(caller);
      }
    }
  }
}
