import { describe, expect, jest, test } from '@jest/globals';
import type { Visitor } from '../../../src/domain/access/gatekeeper.js';
import { LIST_LIMITS, ListSlots } from '../../../src/domain/access/list-slots.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';

const rateLimit = { limit: 600, remaining: 599, resetSeconds: 60 };
const visitorOf = (integrationId: Visitor['integrationId']): Visitor => ({
  integrationId,
  apiKeyId: 'key_1',
  rateLimit,
  version: 'v1',
});
const one = visitorOf('itg_1');
const other = visitorOf('itg_2');

function refusalOf(hold: () => void): ServiceError {
  try {
    hold();
  } catch (error) {
    expect(error).toBeInstanceOf(ServiceError);
    return error as ServiceError;
  }
  throw new Error('It was not refused.');
}

describe('the lists that are read at once', () => {
  test('are limited for an integration, and a slot is free again when its call is over', () => {
    const slots = new ListSlots({ perIntegration: 2, inTotal: 10 });
    const calls = [new AbortController(), new AbortController()];
    for (const { signal } of calls) {
      slots.hold(one, signal);
    }
    const { signal } = new AbortController();
    expect(refusalOf(() => slots.hold(one, signal))).toMatchObject({
      code: ErrorCode.RATE_LIMITED,
      message: 'Your integration is reading 2 lists at once. Please finish one first.',
      retryAfterSeconds: expect.any(Number),
      rateLimit,
    });
    slots.hold(other, signal);
    calls[0]?.abort();
    slots.hold(one, signal);
    expect(refusalOf(() => slots.hold(one, signal)).code).toBe(ErrorCode.RATE_LIMITED);
  });

  test('are limited for all together', () => {
    const slots = new ListSlots({ perIntegration: 2, inTotal: 3 });
    const calls = [one, one, other].map((visitor) => {
      const call = new AbortController();
      slots.hold(visitor, call.signal);
      return call;
    });
    const { signal } = new AbortController();
    const refusal = refusalOf(() => slots.hold(other, signal));
    expect(refusal.code).toBe(ErrorCode.RATE_LIMITED);
    calls[0]?.abort();
    slots.hold(other, signal);
  });

  test('are refused with times to come back that lie apart', () => {
    const slots = new ListSlots({ perIntegration: 0, inTotal: 1 });
    const { signal } = new AbortController();
    const seconds = Array.from(
      { length: 1_000 },
      () => refusalOf(() => slots.hold(one, signal)).retryAfterSeconds,
    );
    expect([...new Set(seconds)].sort((a = 0, b = 0) => a - b)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
  });

  test('are many for an integration from the fifth on, until one ends', () => {
    const slots = new ListSlots();
    const last = new AbortController();
    for (let list = 0; list < 4; list += 1) {
      slots.hold(one, new AbortController().signal);
    }
    expect(slots.areMany('itg_1')).toBe(false);
    slots.hold(one, last.signal);
    expect([slots.areMany('itg_1'), slots.areMany('itg_2')]).toEqual([true, false]);
    last.abort();
    expect(slots.areMany('itg_1')).toBe(false);
  });

  test('keep the slot of a list for its rest, which no other list can take', () => {
    const slots = new ListSlots({ perIntegration: 2, inTotal: 3 });
    const read = new AbortController();
    slots.hold(one, read.signal);
    read.abort();
    slots.leave(one);
    slots.hold(one, new AbortController().signal);
    expect(refusalOf(() => slots.hold(one, new AbortController().signal)).code).toBe(ErrorCode.RATE_LIMITED);
    const rest = new AbortController();
    slots.takeOver(one);
    slots.hold(one, rest.signal);
    expect(refusalOf(() => slots.hold(one, new AbortController().signal)).code).toBe(ErrorCode.RATE_LIMITED);
    rest.abort();
    slots.takeOver(one);
    slots.hold(one, new AbortController().signal);
  });

  test('are neither many nor too many in total for places that wait', () => {
    const slots = new ListSlots({ perIntegration: 10, inTotal: 1 });
    for (let list = 0; list < 9; list += 1) {
      slots.leave(one);
    }
    expect(slots.areMany('itg_1')).toBe(false);
    slots.hold(one, new AbortController().signal);
  });

  test('do not wait for a rest for long', () => {
    jest.useFakeTimers();
    try {
      const slots = new ListSlots({ perIntegration: 1, inTotal: 1 });
      slots.leave(one);
      expect(refusalOf(() => slots.hold(one, new AbortController().signal)).code).toBe(
        ErrorCode.RATE_LIMITED,
      );
      jest.advanceTimersByTime(250);
      slots.hold(one, new AbortController().signal);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  test('do not count a call that was over before it began', () => {
    const slots = new ListSlots({ perIntegration: 1, inTotal: 1 });
    slots.hold(one, AbortSignal.abort());
    slots.hold(one, new AbortController().signal);
  });

  test('are fewer than a connection between the roles carries', () => {
    expect(LIST_LIMITS.inTotal).toBeLessThan(256);
    expect(LIST_LIMITS.perIntegration).toBeLessThan(LIST_LIMITS.inTotal / 2);
  });
});
