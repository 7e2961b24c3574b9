import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RateLimiter, RateWindows } from '../../../src/domain/access/rate-limiter.js';
import { fakeClock } from '../clock.js';

const WINDOW_MS = 10_000;

function limiterOf(limit: number, windowMs = WINDOW_MS) {
  const clock = fakeClock();
  return { limiter: new RateLimiter({ limit, windowMs }, clock.now), clock };
}

/** Windows that count how often their start is read: a sweep reads it once for each caller in memory. */
function watchedWindows() {
  const clock = fakeClock();
  let reads = 0;
  const windows = new RateWindows({ limit: 1, windowMs: WINDOW_MS }, clock.now, (_, startedAt) => ({
    used: 0,
    get startedAt() {
      reads += 1;
      return startedAt;
    },
  }));
  /** Returns how many windows this read. */
  const begin = (caller: string) => {
    reads = 0;
    windows.of(caller);
    return reads;
  };
  return { begin, clock };
}

describe('the rate limiter', () => {
  test('counts down, then refuses without counting on', () => {
    const { limiter } = limiterOf(2);
    const taken = [1, 2, 3, 4].map(() => limiter.take('a'));
    expect(taken.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 1],
      [true, 0],
      [false, 0],
      [false, 0],
    ]);
  });

  test('keeps the window to its last millisecond and opens a fresh one after it', () => {
    const { limiter, clock } = limiterOf(1);
    limiter.take('a');
    clock.advance(WINDOW_MS - 1);
    expect(limiter.take('a')).toEqual({ allowed: false, limit: 1, remaining: 0, resetSeconds: 1 });
    clock.advance(1);
    expect(limiter.take('a')).toEqual({ allowed: true, limit: 1, remaining: 0, resetSeconds: 10 });
  });

  test('a window begins with the first call, not with the clock', () => {
    const { limiter, clock } = limiterOf(1);
    clock.advance(1_234);
    limiter.take('a');
    clock.advance(WINDOW_MS - 1);
    expect(limiter.take('a').allowed).toBe(false);
  });

  test('counts each caller alone', () => {
    const { limiter } = limiterOf(1);
    expect(limiter.take('a').allowed).toBe(true);
    expect(limiter.take('a').allowed).toBe(false);
    expect(limiter.take('b').allowed).toBe(true);
    expect(limiter.take('__proto__').allowed).toBe(true);
  });

  test('a limit of zero refuses every call', () => {
    expect(limiterOf(0).limiter.take('a')).toMatchObject({ allowed: false, remaining: 0 });
  });

  test('never allows more than the limit in a window, for any sequence of calls', () => {
    const step = fc.record({ waitMs: fc.nat(WINDOW_MS), caller: fc.constantFrom('a', 'b', 'c') });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 200 }), (limit, steps) => {
        const { limiter, clock } = limiterOf(limit);
        const allowedAt: Record<string, number[]> = { a: [], b: [], c: [] };
        const startedAt: Record<string, number> = {};
        for (const { waitMs, caller } of steps) {
          clock.advance(waitMs);
          const { allowed, remaining, resetSeconds } = limiter.take(caller);
          const now = clock.now();
          if (now >= (startedAt[caller] ?? 0) + WINDOW_MS) {
            startedAt[caller] = now;
            allowedAt[caller] = [];
            expect(allowed).toBe(true);
          }
          const inWindow = allowedAt[caller] as number[];
          if (allowed) {
            inWindow.push(now);
          }
          expect(inWindow.length).toBeLessThanOrEqual(limit);
          expect(remaining).toBe(limit - inWindow.length);
          expect(allowed || remaining === 0).toBe(true);
          expect(resetSeconds).toBe(Math.ceil(((startedAt[caller] as number) + WINDOW_MS - now) / 1_000));
          expect(resetSeconds).toBeGreaterThan(0);
        }
      }),
    );
  });

  test('forgets windows that are over once there are many, and none that still counts', () => {
    const { limiter, clock } = limiterOf(1);
    const callers = Array.from({ length: 10_001 }, (_, index) => `old ${index}`);
    for (const caller of callers) {
      limiter.take(caller);
    }
    clock.advance(WINDOW_MS / 2);
    limiter.take('young');
    clock.advance(WINDOW_MS / 2);
    limiter.take('newest');

    expect(limiter.take('young').allowed).toBe(false);
    expect(limiter.take('newest').allowed).toBe(false);
  });

  test('looks for windows that are over at most once a second, however many callers are new', () => {
    const { begin, clock } = watchedWindows();
    for (let caller = 0; caller <= 10_000; caller += 1) {
      begin(`old ${caller}`);
    }
    clock.advance(WINDOW_MS - 500);
    expect(begin('sweeps')).toBe(10_001);
    clock.advance(999);
    expect(begin('not yet')).toBe(0);
    clock.advance(1);
    expect(begin('sweeps again')).toBe(10_003);
    for (let caller = 0; caller <= 10_000; caller += 1) {
      begin(`young ${caller}`);
    }
    clock.advance(1_000);
    expect(begin('sweeps the young')).toBe(10_004);
  });

  test('forgets windows that began later than a clock that was put back', () => {
    const { begin, clock } = watchedWindows();
    for (let caller = 0; caller <= 10_000; caller += 1) {
      begin(`later ${caller}`);
    }
    clock.advance(-24 * 3_600_000);
    expect(begin('sweeps')).toBe(10_001);
    clock.advance(1_000);
    expect(begin('has nothing to sweep')).toBe(0);
  });

  test('a clock that is put back does not lock a caller out for longer than a window', () => {
    const { limiter, clock } = limiterOf(1);
    limiter.take('a');
    clock.advance(-24 * 3_600_000);
    expect(limiter.take('a').resetSeconds).toBeLessThanOrEqual(WINDOW_MS / 1_000);
  });
});
