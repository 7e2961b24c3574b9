import { ErrorCode, type KeyHolder, type RateLimit, ServiceError } from '../../errors/service-error.js';
import type { Clock } from '../clock.js';
import { type Rate, RateWindows } from './rate-windows.js';

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
  /** Counts a call by what this node knows, for work that must not wait. */
  takeNow(caller: string): Taken;
  /** Without counting a call. */
  standing(caller: string): RateLimit;
}

/** Counts in memory, for a node that is alone: a restart resets the counts. */
export class RateLimiter implements CallLimiter {
  readonly #windows: RateWindows<{ startedAt: number; used: number }>;

  constructor(
    private readonly rate: Rate,
    clock: Clock,
  ) {
    this.#windows = new RateWindows(rate, clock, (_, startedAt) => ({ startedAt, used: 0 }));
  }

  /** The number of callers in memory. */
  get size(): number {
    return this.#windows.size;
  }

  take(caller: string): Taken {
    const window = this.#windows.of(caller);
    const allowed = window.used < this.rate.limit;
    if (allowed) {
      window.used += 1;
    }
    return { allowed, ...this.#windows.standing(window) };
  }

  takeNow(caller: string): Taken {
    return this.take(caller);
  }

  standing(caller: string): RateLimit {
    return this.#windows.standingOf(caller);
  }
}
