import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RetryState, RetryStatus } from '../../workflows/contract.js';
import { describeRetries } from '../../workflows/definitions/retry-details.js';
import { RetryLedger } from '../../workflows/definitions/retry-ledger.js';

const settings = {
  gatherShare: 0.2,
  gatherLeastMs: 200,
  leastWaitMs: 1_000,
  mostWaitMs: 60_000,
  putOffMs: 5_000,
};

const state = (deliveryId: string, rest: Partial<RetryState> = {}): RetryState => ({
  deliveryId,
  status: 'PENDING',
  attemptsBegun: 1,
  nextAttemptAt: null,
  lastAttempt: null,
  waitMs: 0,
  isUnderWay: false,
  ...rest,
});

const waits = fc.array(fc.integer({ min: 0, max: 600_000 }), { minLength: 1, maxLength: 100 });

describe('the plan of the retries', () => {
  test('makes every attempt once, never before it is due and never later than its share of the wait', () => {
    fc.assert(
      fc.property(waits, (waitsMs) => {
        const ledger = new RetryLedger(settings);
        ledger.note(
          waitsMs.map((waitMs, index) => state(String(index), { waitMs })),
          0,
        );
        const made = new Map<string, number>();
        for (let wake = ledger.nextWake(); wake; wake = ledger.nextWake()) {
          const attempts = ledger.attemptsDue(wake.at);
          expect(attempts).toHaveLength(wake.deliveries);
          for (const { deliveryId } of attempts) {
            expect(made.has(deliveryId)).toBe(false);
            made.set(deliveryId, wake.at);
          }
          ledger.note(
            attempts.map(({ deliveryId }) => state(deliveryId, { status: 'DELIVERED' })),
            wake.at,
          );
        }
        for (const [index, waitMs] of waitsMs.entries()) {
          const lateMs = (made.get(String(index)) ?? Number.NaN) - waitMs;
          expect(lateMs).toBeGreaterThanOrEqual(0);
          expect(lateMs).toBeLessThanOrEqual(Math.max(200, 0.2 * waitMs));
        }
      }),
    );
  });

  test('needs three rounds for a hundred deliveries with waits jittered by a fifth', () => {
    const ledger = new RetryLedger(settings);
    const jittered = Array.from({ length: 100 }, (_, index) => 24_000 + index * 120);
    ledger.note(
      jittered.map((waitMs, index) => state(String(index), { waitMs })),
      0,
    );
    const rounds: number[] = [];
    for (let wake = ledger.nextWake(); wake; wake = ledger.nextWake()) {
      rounds.push(wake.deliveries);
      const made = ledger.attemptsDue(wake.at);
      ledger.note(
        made.map(({ deliveryId }) => state(deliveryId, { status: 'DELIVERED' })),
        wake.at,
      );
    }
    expect(rounds).toHaveLength(3);
  });

  test.each([
    { title: 'the second', begun: 1, number: 2 },
    { title: 'the third', begun: 2, number: 3 },
  ])('makes $title attempt after the one before it', ({ begun, number }) => {
    const ledger = new RetryLedger(settings);
    ledger.note([state('a', { attemptsBegun: begun })], 0);
    expect(ledger.attemptsDue(0)).toEqual([{ deliveryId: 'a', attemptNumber: number, bySignal: false }]);
  });

  test.each([
    { title: 'the first has not begun', rest: { attemptsBegun: 0 } },
    { title: 'the third was the last', rest: { attemptsBegun: 3 } },
    { title: 'another worker attempts it', rest: { attemptsBegun: 2, isUnderWay: true } },
  ])('looks again, ever more rarely, and attempts nothing where $title', ({ rest }) => {
    const ledger = new RetryLedger(settings);
    const restsMs: number[] = [];
    let now = 0;
    for (let look = 0; look < 9; look++) {
      ledger.note([state('a', rest)], now);
      expect(ledger.attemptsDue(now + 3_600_000)).toEqual([]);
      const at = ledger.nextWake()?.at ?? Number.NaN;
      expect(ledger.isLookDue(at - 1)).toBe(false);
      expect(ledger.isLookDue(at)).toBe(true);
      restsMs.push(at - now);
      now = at;
    }
    expect(restsMs).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  test('looks how an attempt ends that is under way although its delivery was given up', () => {
    const ledger = new RetryLedger(settings);
    ledger.note([state('a', { status: 'EXHAUSTED', attemptsBegun: 2, isUnderWay: true })], 0);
    expect(ledger.nextWake()).toEqual({ at: 1_000, deliveries: 1 });
    ledger.noteAll([state('a', { status: 'DELIVERED', attemptsBegun: 2 })], 1_000);
    expect(ledger.counts()).toMatchObject({ deliveries: 1, delivered: 1 });
    expect(ledger.nextWake()).toBeUndefined();
  });

  test('waits for the lease of a running attempt before it looks', () => {
    const ledger = new RetryLedger(settings);
    ledger.note([state('a', { isUnderWay: true, waitMs: 30_000 })], 0);
    expect(ledger.nextWake()?.at).toBe(31_000);
  });

  test('keeps what is hurried so until that attempt was made, whatever is noted meanwhile', () => {
    const ledger = new RetryLedger(settings);
    ledger.note([state('a', { waitMs: 9_000 }), state('b', { waitMs: 9_000 })], 0);
    ledger.hurry(['a'], 100);
    ledger.noteAll([state('a', { waitMs: 8_000 }), state('b', { waitMs: 8_000 })], 1_000);
    expect(ledger.attemptsDue(1_000)).toEqual([{ deliveryId: 'a', attemptNumber: 2, bySignal: true }]);
    ledger.note([state('a', { attemptsBegun: 2, waitMs: 8_000 })], 1_000);
    expect(ledger.attemptsDue(1_000)).toEqual([]);
    expect(ledger.attemptsDue(9_000)).toContainEqual({ deliveryId: 'a', attemptNumber: 3, bySignal: false });
  });

  test('names a delivery once that a signal names many times, because the domain limits their number', () => {
    const ledger = new RetryLedger(settings);
    ledger.note([state('a'), state('b')], 0);
    expect(ledger.openAmong(['a', 'a', 'unknown', 'b', 'a'])).toEqual(['a', 'b']);
  });

  test('puts off what could not be attempted, longer each time and no other with it', () => {
    const ledger = new RetryLedger(settings);
    ledger.note([state('a'), state('b', { waitMs: 3_000 })], 0);
    const waitsMs: number[] = [];
    for (let now = 0, tries = 0; tries < 6; tries++) {
      ledger.putOff([{ deliveryId: 'a', attemptNumber: 2 }], now);
      ledger.note([state('b', { status: 'DELIVERED' })], now);
      const at = ledger.nextWake()?.at ?? Number.NaN;
      waitsMs.push(at - now);
      now = at;
    }
    expect(waitsMs).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  });

  test('counts one that is no longer in the batch as gone, unless it had ended', () => {
    const ledger = new RetryLedger(settings);
    ledger.note([state('a'), state('b', { status: 'EXHAUSTED' }), state('c')], 0);
    ledger.noteAll([state('c', { status: 'HELD' })], 0);
    expect(ledger.counts()).toEqual({
      deliveries: 3,
      delivered: 0,
      exhausted: 1,
      held: 1,
      cancelled: 0,
      gone: 1,
    });
    expect(ledger.nextWake()).toBeUndefined();
  });

  test.each<{ told: RetryStatus[]; stays: RetryStatus }>([
    { told: ['DELIVERED', 'EXHAUSTED'], stays: 'DELIVERED' },
    { told: ['EXHAUSTED', 'DELIVERED'], stays: 'DELIVERED' },
    { told: ['EXHAUSTED', 'PENDING'], stays: 'EXHAUSTED' },
    { told: ['HELD', 'PENDING'], stays: 'HELD' },
    { told: ['PENDING', 'CANCELLED'], stays: 'CANCELLED' },
  ])('told $told of a delivery, as when answers cross, keeps to $stays', ({ told, stays }) => {
    const ledger = new RetryLedger(settings);
    for (const status of told) {
      ledger.note([state('a', { status })], 0);
    }
    expect(ledger.progress()).toMatchObject([{ status: stays }]);
    expect(ledger.nextWake()).toBeUndefined();
  });

  test('remembers how the last attempt ended, also from a run before this one', () => {
    const ledger = new RetryLedger(settings, { a: 'answered 503' });
    ledger.note([state('a'), state('b', { lastAttempt: 'timed out' })], 0);
    ledger.note([state('b')], 0);
    expect(ledger.progress().map(({ lastAttempt }) => lastAttempt)).toEqual(['answered 503', 'timed out']);
  });
});

describe('the details of the retries', () => {
  const details = (...states: RetryState[]) => {
    const ledger = new RetryLedger(settings);
    ledger.note(states, 0);
    return describeRetries(ledger.counts(), ledger.progress());
  };

  test('say what happened, when the next attempt is, and how each delivery stands', () => {
    expect(
      details(
        state('whd_a', { status: 'DELIVERED', attemptsBegun: 2, lastAttempt: 'answered 200' }),
        state('whd_b', { nextAttemptAt: '2026-07-01T10:05:12.345Z' }),
        state('whd_c', {
          attemptsBegun: 2,
          nextAttemptAt: '2026-07-01T10:05:02.345Z',
          lastAttempt: 'timed out',
        }),
        state('whd_d', { attemptsBegun: 2, isUnderWay: true }),
      ),
    ).toBe(`4 deliveries: 1 delivered, 3 to go. Next attempt at 2026-07-01 10:05:02Z.

| Delivery | State | Attempts | Last attempt | Next attempt |
|---|---|---|---|---|
| whd_a | delivered | 2 of 3 | answered 200 |  |
| whd_b | waits | 1 of 3 |  | 2026-07-01 10:05:12Z |
| whd_c | waits | 2 of 3 | timed out | 2026-07-01 10:05:02Z |
| whd_d | under way | 2 of 3 |  |  |

\u00a0`);
  });

  test.each<{ status: RetryStatus; sentence: string }>([
    { status: 'EXHAUSTED', sentence: '1 delivery: 1 exhausted.' },
    { status: 'HELD', sentence: '1 delivery: 1 held.' },
    { status: 'CANCELLED', sentence: '1 delivery: 1 cancelled.' },
    { status: 'GONE', sentence: '1 delivery: 1 gone.' },
  ])('of one that is $status begin with "$sentence"', ({ status, sentence }) => {
    expect(details(state('whd_a', { status })).split('\n')[0]).toBe(sentence);
  });
});
