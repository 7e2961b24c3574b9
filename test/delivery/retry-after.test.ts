import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { retryAfterSeconds } from '../../src/delivery/exchange.js';

const NOW = Date.parse('2026-07-01T10:00:00Z');

describe('Retry-After', () => {
  test.each([
    ['0', 0],
    ['120', 120],
    [' 120 ', 120],
    ['999999999', 999_999_999],
    ['Wed, 01 Jul 2026 10:02:00 GMT', 120],
    ['Wed, 01 Jul 2026 09:00:00 GMT', 0],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 999_999_999],
  ])('of %p is %i seconds', (value, seconds) => {
    expect(retryAfterSeconds(503, value, NOW)).toBe(seconds);
    expect(retryAfterSeconds(429, value, NOW)).toBe(seconds);
  });

  test.each([
    '',
    '-1',
    '1.5',
    '1e9',
    '0x10',
    '99999999999',
    'soon',
    '2026-07-01',
    'Wed, 99 Jul 2026 10:02:00 GMT',
    'Wed, 01 Jul 2026 10:02:00',
  ])('of %p says nothing', (value) => {
    expect(retryAfterSeconds(503, value, NOW)).toBeUndefined();
  });

  test('says nothing where there is none, and with any other status', () => {
    expect(retryAfterSeconds(503, undefined, NOW)).toBeUndefined();
    for (const status of [200, 301, 408, 410, 500, 502, 504]) {
      expect(retryAfterSeconds(status, '120', NOW)).toBeUndefined();
    }
  });

  test('is never negative, broken or a fault, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const seconds = retryAfterSeconds(429, value, NOW);
        expect(seconds === undefined || (Number.isSafeInteger(seconds) && seconds >= 0)).toBe(true);
      }),
    );
  });
});
