import { ApiError, ConnectionError, OAuthError } from './errors.js';

/** The number of retries, and their pauses. */
export interface RetryOptions {
  /** Excludes the first attempt. Default: 3. */
  maxRetries?: number | undefined;
  /** Before the first retry; doubles for each further one, with jitter. Default: 250. */
  baseDelayMs?: number | undefined;
  /** The longest pause, except for `Retry-After`. Default: 8000. */
  maxDelayMs?: number | undefined;
  /** For a longer `Retry-After` the error is thrown at once. Default: 60. */
  maxRetryAfterSeconds?: number | undefined;
}

export type RetryPolicy = { readonly [Name in keyof RetryOptions]-?: number };

export const DEFAULT_RETRY: RetryPolicy = {
  maxRetries: 3,
  baseDelayMs: 250,
  maxDelayMs: 8_000,
  maxRetryAfterSeconds: 60,
};

const PASSING_STATUSES: ReadonlySet<number | null> = new Set([408, 429, 500, 502, 503, 504]);

export function retryPolicy(options: RetryOptions | false = {}): RetryPolicy {
  if (options === false) {
    return { ...DEFAULT_RETRY, maxRetries: 0 };
  }
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const policy = { ...DEFAULT_RETRY, ...Object.fromEntries(given) };
  checkNumbers(policy);
  return policy;
}

/** Throws a `TypeError` for a value that is negative or not a number, such as `Number(undefined)`. */
export function checkNumbers(given: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value = 0] of Object.entries(given)) {
    if (typeof value !== 'number' || !(value >= 0)) {
      throw new TypeError(`${name} must be a number, zero or more.`);
    }
  }
}

/** Throws a `TypeError` for a limit within which no answer could arrive. */
export function timeLimit(timeoutMs: number): number {
  if (typeof timeoutMs !== 'number' || !(timeoutMs > 0)) {
    throw new TypeError('timeoutMs must be a number of milliseconds, more than zero.');
  }
  return timeoutMs;
}

/** For repeatable requests. No retry begins after `withinMs`. Throws the last error. */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  policy: RetryPolicy,
  signal?: AbortSignal,
  withinMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  const began = Date.now();
  const isTooLate = (delayMs: number) => Date.now() - began + delayMs > withinMs;
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const delayMs = retries < policy.maxRetries ? delayBeforeRetryMs(error, retries, policy) : undefined;
      if (delayMs === undefined || isTooLate(delayMs)) {
        throw error;
      }
      await pause(delayMs, signal);
      // The machine may have slept.
      if (isTooLate(0)) {
        throw error;
      }
    }
  }
}

/** Undefined if another attempt would not help. */
function delayBeforeRetryMs(error: unknown, retries: number, policy: RetryPolicy): number | undefined {
  const retryAfterSeconds = mayPass(error) ? error.retryAfterSeconds : null;
  if (retryAfterSeconds !== null) {
    // Slightly later than asked, so that clients with the same answer do not return together.
    const asked = retryAfterSeconds * 1000 * (1 + Math.random() / 10);
    return retryAfterSeconds > policy.maxRetryAfterSeconds ? undefined : asked;
  }
  if (!mayPass(error) && !(error instanceof ConnectionError)) {
    return undefined;
  }
  const longest = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** retries);
  return longest * (0.5 + Math.random() / 2);
}

function mayPass(error: unknown): error is ApiError | OAuthError {
  return (error instanceof ApiError || error instanceof OAuthError) && PASSING_STATUSES.has(error.status);
}

/** For a longer time, `setTimeout` waits a millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function timerMs(ms: number): number {
  return Math.min(ms, LONGEST_TIMER_MS);
}

/** Ends the wait for a result, not the work for it. */
export function untilAborted<T>(result: Promise<T>, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal?.reason);
    result.then(resolve, reject).finally(() => signal?.removeEventListener('abort', stop));
    if (signal?.aborted) {
      stop();
    } else {
      signal?.addEventListener('abort', stop, { once: true });
    }
  });
}

export function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timerMs(delayMs));
  });
  return untilAborted(over, signal).finally(() => clearTimeout(timer));
}
