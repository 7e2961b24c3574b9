import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Grant } from '../../../../src/domain/credentials/access.js';
import { judgeSpentToken } from '../../../../src/domain/sign-on/tokens/refresh.js';

const NOW = 1_790_000_000_000;
const WINDOW_MS = 60_000;

const grant = (fields: Partial<Grant>) =>
  ({ generation: 3, rotatedAt: NOW - 1, refreshExpiresAt: NOW + 1, revokedAt: null, ...fields }) as Grant;

describe('a refresh token that cannot be rotated', () => {
  test.each([
    { title: 'the one before the present one, in the window', presented: 2, fields: {}, says: 'retry' },
    {
      title: 'the same at the end of the window',
      presented: 2,
      fields: { rotatedAt: NOW - WINDOW_MS },
      says: 'retry',
    },
    {
      title: 'the same a millisecond later',
      presented: 2,
      fields: { rotatedAt: NOW - WINDOW_MS - 1 },
      says: 'reuse',
    },
    {
      title: 'the same on a node with a slow clock',
      presented: 2,
      fields: { rotatedAt: NOW + 500 },
      says: 'retry',
    },
    {
      title: 'the same after the clock was set back by more than the window',
      presented: 2,
      fields: { rotatedAt: NOW + WINDOW_MS + 1 },
      says: 'reuse',
    },
    { title: 'one from before that', presented: 1, fields: {}, says: 'reuse' },
    { title: 'one of a revoked family', presented: 1, fields: { revokedAt: NOW }, says: 'over' },
    {
      title: 'one of a family that has ended',
      presented: 2,
      fields: { refreshExpiresAt: NOW },
      says: 'over',
    },
    {
      title: 'one of a family without refresh tokens',
      presented: 1,
      fields: { refreshExpiresAt: null },
      says: 'over',
    },
    { title: 'one that was not given yet', presented: 4, fields: {}, says: 'over' },
  ])('is judged as $says: $title', ({ presented, fields, says }) => {
    expect(judgeSpentToken(grant(fields), presented, NOW)).toBe(says);
  });

  const family = fc.record({
    generation: fc.integer({ min: 1, max: 6 }),
    presented: fc.integer({ min: 0, max: 8 }),
    ageMs: fc.integer({ min: -3 * WINDOW_MS, max: 3 * WINDOW_MS }),
    leftMs: fc.option(fc.integer({ min: -5, max: 5 })),
    revoked: fc.boolean(),
  });

  test('is answered with a successor only while that is the newest and unused, and the family holds', () => {
    fc.assert(
      fc.property(family, ({ generation, presented, ageMs, leftMs, revoked }) => {
        const judged = judgeSpentToken(
          grant({
            generation,
            rotatedAt: NOW - ageMs,
            refreshExpiresAt: leftMs === null ? null : NOW + leftMs,
            revokedAt: revoked ? NOW - 1 : null,
          }),
          presented,
          NOW,
        );
        const holds = !revoked && leftMs !== null && leftMs > 0;
        const isRetry = holds && presented + 1 === generation && Math.abs(ageMs) <= WINDOW_MS;
        expect(judged === 'retry').toBe(isRetry);
        expect(judged === 'reuse').toBe(holds && presented < generation && !isRetry);
      }),
    );
  });
});
