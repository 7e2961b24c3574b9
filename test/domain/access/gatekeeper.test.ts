import { describe, expect, test } from '@jest/globals';
import { Gatekeeper, type StoredApiKey, type VisitStore } from '../../../src/domain/access/gatekeeper.js';
import { RateLimiter } from '../../../src/domain/access/rate-limiter.js';
import type { Observation } from '../../../src/domain/operator/audit.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { fakeClock } from '../clock.js';

const HOUR_MS = 3_600_000;
const SHOWN = { apiKeyHash: new Uint8Array([1, 2, 3]), remoteAddress: '192.0.2.7' };

function gate(
  key: Partial<StoredApiKey> | undefined,
  options: { limit?: number; markUsed?: VisitStore['markUsed'] } = {},
) {
  const clock = fakeClock();
  const marks: Parameters<VisitStore['markUsed']>[] = [];
  const backgroundErrors: unknown[] = [];
  const observed: Observation[] = [];
  const stored: StoredApiKey | undefined = key && {
    id: 'key_1',
    integrationId: 'itg_1',
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...key,
  };
  const find = async () => stored && { key: { ...stored }, version: 'version-1' };
  const visits: VisitStore = {
    findKey: find,
    findInstanceIntegration: find,
    findClient: find,
    markUsed: (...mark) => {
      marks.push(mark);
      return options.markUsed?.(...mark) ?? Promise.resolve();
    },
  };
  const limiter = new RateLimiter({ limit: options.limit ?? 100, windowMs: 60_000 }, clock.now);
  const gatekeeper = new Gatekeeper(
    visits,
    limiter,
    clock.now,
    (error) => backgroundErrors.push(error),
    (observation) => observed.push(observation),
  );
  return { gatekeeper, clock, marks, backgroundErrors, observed, stored };
}

async function refusalOf(admission: Promise<unknown>): Promise<ServiceError> {
  const refusal = await admission.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(ServiceError);
  return refusal as ServiceError;
}

describe('the gatekeeper', () => {
  test.each([
    ['an unknown key', undefined, { type: 'stranger', id: 'unknown' }, null, 'unknown'],
    ['a revoked key', { revokedAt: 1 }, { type: 'api_key', id: 'key_1' }, 'itg_1', 'revoked'],
    ['an expired key', { expiresAt: 1 }, { type: 'api_key', id: 'key_1' }, 'itg_1', 'expired'],
  ])(
    'puts the refusal of %s on record, and never what was shown',
    async (_, key, actor, integrationId, reason) => {
      const { gatekeeper, observed } = gate(key);
      await refusalOf(gatekeeper.admit(SHOWN));
      expect(observed).toEqual([
        {
          type: 'api_key.refused',
          outcome: 'refused',
          actor: { ...actor, remoteAddress: '192.0.2.7' },
          subject: integrationId && { type: 'integration', id: integrationId },
          attributes: { reason },
        },
      ]);
    },
  );

  test('admits a valid key, with its integration, the version of the data and the remaining calls', async () => {
    const { gatekeeper } = gate({}, { limit: 10 });
    await expect(gatekeeper.admit(SHOWN)).resolves.toEqual({
      integrationId: 'itg_1',
      version: 'version-1',
      apiKeyId: 'key_1',
      rateLimit: { limit: 10, remaining: 9, resetSeconds: 60 },
    });
  });

  test('refuses an unknown key', async () => {
    expect((await refusalOf(gate(undefined).gatekeeper.admit(SHOWN))).code).toBe(ErrorCode.API_KEY_UNKNOWN);
  });

  test('refuses a revoked key just as it refuses an unknown one', async () => {
    const unknown = await refusalOf(gate(undefined).gatekeeper.admit(SHOWN));
    const revoked = await refusalOf(gate({ revokedAt: 1 }).gatekeeper.admit(SHOWN));
    const both = await refusalOf(gate({ revokedAt: 1, expiresAt: 1 }).gatekeeper.admit(SHOWN));
    expect(revoked).toEqual(unknown);
    expect(both).toEqual(unknown);
    expect(revoked.code).toBe(unknown.code);
  });

  test.each([
    { title: 'one millisecond before its end', left: 1, admitted: true },
    { title: 'at its very end', left: 0, admitted: false },
    { title: 'after its end', left: -1, admitted: false },
  ])('$title a key is admitted: $admitted', async ({ left, admitted }) => {
    const { gatekeeper } = gate({ expiresAt: fakeClock().now() + left });
    if (admitted) {
      await expect(gatekeeper.admit(SHOWN)).resolves.toBeDefined();
    } else {
      expect((await refusalOf(gatekeeper.admit(SHOWN))).code).toBe(ErrorCode.API_KEY_EXPIRED);
    }
  });

  test('refuses what is over the limit, says when to come back, and admits again then', async () => {
    const { gatekeeper, clock } = gate({}, { limit: 2 });
    await gatekeeper.admit(SHOWN);
    clock.advance(15_500);
    await gatekeeper.admit(SHOWN);

    const refusal = await refusalOf(gatekeeper.admit(SHOWN));
    expect(refusal.code).toBe(ErrorCode.RATE_LIMITED);
    expect(refusal.retryAfterSeconds).toBe(45);
    expect(refusal.rateLimit).toEqual({ limit: 2, remaining: 0, resetSeconds: 45 });
    expect(refusal.message).toContain('45 s');
    clock.advance(44_500);
    await expect(gatekeeper.admit(SHOWN)).resolves.toBeDefined();
  });

  test('counts no call of a key that it refused', async () => {
    const { gatekeeper, stored, clock } = gate({}, { limit: 1 });
    Object.assign(stored ?? {}, { expiresAt: clock.now() });
    await refusalOf(gatekeeper.admit(SHOWN));
    Object.assign(stored ?? {}, { expiresAt: null });
    await expect(gatekeeper.admit(SHOWN)).resolves.toMatchObject({ rateLimit: { remaining: 0 } });
  });

  test.each<{ title: string; lastUsedAt: (now: number) => number | null; noted: boolean }>([
    { title: 'never', lastUsedAt: () => null, noted: true },
    { title: 'over an hour ago', lastUsedAt: (now) => now - HOUR_MS - 1, noted: true },
    { title: 'an hour ago', lastUsedAt: (now) => now - HOUR_MS, noted: false },
    { title: 'a moment ago', lastUsedAt: (now) => now - 1, noted: false },
  ])('a use of a key that was last used $title is noted: $noted', async ({ lastUsedAt, noted }) => {
    const { gatekeeper, marks, clock } = gate({ lastUsedAt: lastUsedAt(fakeClock().now()) });
    await gatekeeper.admit(SHOWN);
    expect(marks).toEqual(noted ? [['key_1', clock.now(), clock.now() - HOUR_MS]] : []);
  });

  test('notes no use that it refused', async () => {
    for (const { gatekeeper, marks } of [
      gate({ expiresAt: 1 }),
      gate({ revokedAt: 1 }),
      gate({}, { limit: 0 }),
    ]) {
      await refusalOf(gatekeeper.admit(SHOWN));
      expect(marks).toEqual([]);
    }
  });

  test('does not wait for the note', async () => {
    const { gatekeeper, marks } = gate({}, { markUsed: () => new Promise(() => undefined) });
    await expect(gatekeeper.admit(SHOWN)).resolves.toBeDefined();
    expect(marks).toHaveLength(1);
  });

  test.each<{ title: string; markUsed: (failure: Error) => VisitStore['markUsed'] }>([
    { title: 'is rejected', markUsed: (failure) => () => Promise.reject(failure) },
    {
      title: 'throws at once',
      markUsed: (failure) => () => {
        throw failure;
      },
    },
  ])('admits even when the note $title, and reports it', async ({ markUsed }) => {
    const failure = new Error('database is locked');
    const { gatekeeper, backgroundErrors } = gate({}, { markUsed: markUsed(failure) });
    await expect(gatekeeper.admit(SHOWN)).resolves.toBeDefined();
    await new Promise(setImmediate);
    expect(backgroundErrors).toEqual([failure]);
  });
});
