import { describe, expect, test } from '@jest/globals';
import { type CodeMinutes, expireCodesOf } from '../../../../src/domain/sign-on/authorization/codes.js';

const minute = Date.UTC(2026, 6, 1, 10);
const MINUTE_MS = 60_000;
const LIFETIME_MS = 600_000;

/** Codes of the minute as the store would report them. */
function rowsThatTell(retryAt: number | null) {
  const asked: unknown[] = [];
  const rows: CodeMinutes = {
    toWatch: async () => [],
    markWatched: async () => undefined,
    expire: async (...given) => {
      asked.push(['expire', ...given]);
      return { issued: 2, redeemed: 1, expired: 1, retryAt };
    },
  };
  return { rows, asked };
}

describe('expiring the codes of a minute', () => {
  test.each([
    { title: 'is never done while the minute lasts', at: minute + 1, found: null, retryAt: minute + 660_000 },
    {
      title: 'waits for codes that may yet come, not only for those there are',
      at: minute + MINUTE_MS - 1,
      found: minute + LIFETIME_MS,
      retryAt: minute + 660_000,
    },
    {
      title: 'is asked for again when the next code is over',
      at: minute + MINUTE_MS,
      found: minute + LIFETIME_MS,
      retryAt: minute + LIFETIME_MS,
    },
    {
      title: 'is done when the minute is over and no code is valid',
      at: minute + MINUTE_MS,
      found: null,
      retryAt: null,
    },
  ])('$title', async ({ at, found, retryAt }) => {
    const { rows, asked } = rowsThatTell(found);
    const outcome = await expireCodesOf(rows, () => at, minute);
    expect(outcome).toEqual({ issued: 2, redeemed: 1, expired: 1, retryAt });
    expect(asked).toEqual([['expire', minute, at]]);
  });
});
