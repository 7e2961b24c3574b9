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
    const [release] = [slots.hold(one), slots.hold(one)];
    expect(refusalOf(() => slots.hold(one))).toMatchObject({
      code: ErrorCode.RATE_LIMITED,
      message: 'Your integration is reading 2 lists at once. Please finish one first.',
      retryAfterSeconds: expect.any(Number),
      rateLimit,
    });
    slots.hold(other);
    release?.();
    slots.hold(one);
    expect(refusalOf(() => slots.hold(one)).code).toBe(ErrorCode.RATE_LIMITED);
  });

  test('are limited for all together', () => {
    const slots = new ListSlots({ perIntegration: 2, inTotal: 3 });
    const [release] = [one, one, other].map((visitor) => slots.hold(visitor));
    const third = visitorOf('itg_3');
    expect(refusalOf(() => slots.hold(third)).code).toBe(ErrorCode.RATE_LIMITED);
    release?.();
    slots.hold(third);
  });

  test('leave slots for others, also where three integrations read as many as they can', () => {
    const slots = new ListSlots();
    const holdAll = (visitor: Visitor) => {
      let held = 0;
      const refusal = refusalOf(() => {
        for (;;) {
          slots.hold(visitor);
          held += 1;
        }
      });
      expect(refusal.code).toBe(ErrorCode.RATE_LIMITED);
      return held;
    };
    expect([one, other, visitorOf('itg_3')].map(holdAll)).toEqual([64, 64, 32]);
    for (const integrationId of ['itg_4', 'itg_5', 'itg_6'] as const) {
      expect(holdAll(visitorOf(integrationId))).toBeGreaterThan(0);
    }
  });

  test('are refused with times to come back that lie apart', () => {
    const slots = new ListSlots({ perIntegration: 0, inTotal: 1 });
    const seconds = Array.from({ length: 1_000 }, () => refusalOf(() => slots.hold(one)).retryAfterSeconds);
    expect([...new Set(seconds)].sort((a = 0, b = 0) => a - b)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
  });

  test('are many for an integration from the fifth on, until one ends', () => {
    const slots = new ListSlots();
    for (let list = 0; list < 4; list += 1) {
      slots.hold(one);
    }
    expect(slots.areMany('itg_1')).toBe(false);
    const release = slots.hold(one);
    expect([slots.areMany('itg_1'), slots.areMany('itg_2')]).toEqual([true, false]);
    release();
    expect(slots.areMany('itg_1')).toBe(false);
  });

  test('keep the slot of a list for its rest, which no other list can take', () => {
    const slots = new ListSlots({ perIntegration: 2, inTotal: 3 });
    slots.hold(one)();
    slots.leave(one);
    slots.hold(one);
    expect(refusalOf(() => slots.hold(one)).code).toBe(ErrorCode.RATE_LIMITED);
    slots.takeOver(one);
    const releaseRest = slots.hold(one);
    expect(refusalOf(() => slots.hold(one)).code).toBe(ErrorCode.RATE_LIMITED);
    releaseRest();
    slots.takeOver(one);
    slots.hold(one);
  });

  test('are neither many nor too many in total for places that wait', () => {
    const slots = new ListSlots({ perIntegration: 10, inTotal: 1 });
    for (let list = 0; list < 9; list += 1) {
      slots.leave(one);
    }
    expect(slots.areMany('itg_1')).toBe(false);
    slots.hold(one);
  });

  test('do not wait for a rest for long', () => {
    jest.useFakeTimers();
    try {
      const slots = new ListSlots({ perIntegration: 1, inTotal: 1 });
      slots.leave(one);
      expect(refusalOf(() => slots.hold(one)).code).toBe(ErrorCode.RATE_LIMITED);
      jest.advanceTimersByTime(250);
      slots.hold(one);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  test('are fewer than a connection between the roles carries', () => {
    expect(LIST_LIMITS.inTotal).toBeLessThan(256);
    expect(LIST_LIMITS.perIntegration).toBeLessThan(LIST_LIMITS.inTotal / 2);
  });
});
