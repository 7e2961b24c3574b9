import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { healthAfter, retryAt } from '../../../../src/domain/webhooks/sending/results.js';

const DELAYS = [30_000, 300_000] as const;

function resultOf(number: number, httpStatus: number | null = 500, retryAfterSeconds?: number) {
  const attempt = { number, outcome: 'STATUS_REFUSED' as const, durationMs: 1, httpStatus };
  return {
    deliveryId: 'whd_1' as const,
    attempt: { ...attempt, message: null, responseStart: null },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

function waitOf(result: ReturnType<typeof resultOf>, random = 0.5): number {
  return retryAt(result, { now: 1_000, retryDelaysMs: DELAYS, graceMs: 0, random: () => random }) - 1_000;
}

describe('the wait before the next attempt', () => {
  test.each([
    [1, 0, 24_000],
    [1, 0.5, 30_000],
    [1, 0.999_999, 36_000],
    [2, 0, 240_000],
    [2, 0.5, 300_000],
    [2, 0.999_999, 360_000],
  ])('after attempt %i, with %d for chance, is %i ms', (number, random, expected) => {
    expect(waitOf(resultOf(number), random)).toBe(expected);
  });

  test('is within a fifth of the setting, whatever chance brings', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 2),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (number, random) => {
          const wait = waitOf(resultOf(number), random);
          const delay = DELAYS[number - 1] as number;
          expect(wait).toBeGreaterThanOrEqual(delay * 0.8);
          expect(wait).toBeLessThanOrEqual(delay * 1.2);
          expect(Number.isInteger(wait)).toBe(true);
        },
      ),
    );
  });

  test.each([
    ['is as long as 429 asks for', 429, 90, 90_000],
    ['is as long as 503 asks for', 503, 31, 31_000],
    ['is no shorter than the setting', 429, 1, 30_000],
    ['is no longer than an hour', 503, 86_400, 3_600_000],
    ['is an hour at most, however much is asked for', 429, 4_294_967_295, 3_600_000],
    ['heeds no other status', 500, 90, 30_000],
    ['heeds no redirect', 302, 90, 30_000],
    ['heeds nothing without an answer', null, 90, 30_000],
  ])('%s', (_, httpStatus, retryAfterSeconds, expected) => {
    expect(waitOf(resultOf(1, httpStatus, retryAfterSeconds))).toBe(expected);
  });
});

describe('the health of a receiver after the clock was set back', () => {
  const NOW = 10_000_000;
  const later = NOW + 3_600_000;
  const before = { id: 'whs_1' as const, lastSuccessAt: later, failingSince: null, updatedAt: 1 };
  const after = (
    health: typeof before | { failingSince: number },
    outcome: 'SUCCEEDED' | 'STATUS_REFUSED' | 'INTERRUPTED',
  ) => {
    const result = resultOf(1);
    const ending = { result: { ...result, attempt: { ...result.attempt, outcome } }, begunAt: NOW };
    return healthAfter({ ...before, ...health }, [ending], NOW, 1_000);
  };

  test('fails from now on at the latest', () => {
    expect(after({ failingSince: later }, 'STATUS_REFUSED')).toMatchObject({
      health: { failingSince: NOW },
      changed: true,
    });
    expect(after({ failingSince: NOW + 1_000 }, 'STATUS_REFUSED').changed).toBe(false);
    // Sweeps of lapsed attempts lock no subscription alone.
    expect(after({ failingSince: later }, 'INTERRUPTED').changed).toBe(false);
  });

  test('tells the time of a success again', () => {
    expect(after(before, 'SUCCEEDED')).toMatchObject({ health: { lastSuccessAt: NOW }, changed: true });
  });
});
