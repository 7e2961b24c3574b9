import { describe, expect, test } from '@jest/globals';
import type { Visitor } from '../../src/domain/access/gatekeeper.js';
import { LIST_LIMITS, ListSlots } from '../../src/domain/access/list-slots.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';

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
      retryAfterSeconds: 5,
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
    expect([refusal.code, refusal.retryAfterSeconds]).toEqual([ErrorCode.RATE_LIMITED, 5]);
    calls[0]?.abort();
    slots.hold(other, signal);
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
