import { describe, expect, test } from '@jest/globals';
import { identifyServiceToken, type StoredServiceToken } from '../../../src/domain/access/service-tokens.js';
import type { MarkUsed } from '../../../src/domain/operator/lifetime.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import { SERVICE_TOKEN_KINDS } from '../../../src/identifiers/service-token.js';
import { toStatus } from '../../../src/rpc/error-trailer.js';
import { fakeClock } from '../clock.js';

const TOKEN = 'operator_demo_secret';

function identify(
  stored: Partial<StoredServiceToken> | undefined,
  token = TOKEN,
  markUsed: MarkUsed = async () => undefined,
  onLostUse: (error: unknown) => void = () => undefined,
) {
  const clock = fakeClock();
  const known: StoredServiceToken = {
    id: 'tok_1',
    kind: 'operator',
    instanceId: null,
    ownerId: null,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...stored,
  };
  const tokens = {
    findByHash: async (hash: Uint8Array) => (stored && hashSecret(TOKEN).equals(hash) ? known : undefined),
    markUsed,
  };
  return identifyServiceToken(tokens, clock.now, token, onLostUse);
}

describe('a service token', () => {
  test.each(SERVICE_TOKEN_KINDS)('of kind %s speaks for it', async (kind) => {
    await expect(identify({ kind })).resolves.toMatchObject({ id: 'tok_1', kind });
  });

  test('is good until the millisecond of its end', async () => {
    await expect(identify({ expiresAt: fakeClock().now() + 1 })).resolves.toMatchObject({ kind: 'operator' });
  });

  test('is refused in the same words whatever is wrong with it', async () => {
    const refusals = await Promise.all(
      [
        identify(undefined),
        identify({}, 'another'),
        identify({}, ''),
        identify({ revokedAt: 1 }),
        identify({ revokedAt: fakeClock().now() + 1 }),
        identify({ expiresAt: fakeClock().now() }),
        identify({ expiresAt: 0 }),
      ].map((refused) => refused.catch((error: unknown) => error as ServiceError)),
    );
    for (const refusal of refusals) {
      expect(refusal).toBeInstanceOf(ServiceError);
      const status = toStatus(refusal as ServiceError);
      expect(status).toEqual(toStatus(refusals[0] as ServiceError));
      expect(status.details).toBe('This service token is not valid here.');
      expect((refusal as ServiceError).code).toBe(ErrorCode.SERVICE_TOKEN_INVALID);
    }
  });

  test.each([
    ['unknown', undefined, undefined],
    ['revoked', { revokedAt: 1 }, 'tok_1'],
    ['revoked', { revokedAt: 1, expiresAt: 1 }, 'tok_1'],
    ['expired', { expiresAt: 1 }, 'tok_1'],
  ])('is %s to those who keep the service', async (reason, stored, tokenId) => {
    await expect(identify(stored)).rejects.toMatchObject({ reason, tokenId });
  });

  test('is noted as used every five minutes, and not where it is refused', async () => {
    const marks: unknown[] = [];
    const mark: MarkUsed = async (...given) => {
      marks.push(given);
    };
    const now = fakeClock().now();
    await identify({}, TOKEN, mark);
    await identify({ lastUsedAt: now - 300_000 }, TOKEN, mark);
    await identify({ lastUsedAt: now - 300_001 }, TOKEN, mark);
    await identify({ revokedAt: 1 }, TOKEN, mark).catch(() => undefined);
    const expected = ['tok_1', now, now - 300_000];
    expect(marks).toEqual([expected, expected]);
  });

  test('speaks without waiting for the note of its use', async () => {
    await expect(identify({}, TOKEN, () => new Promise(() => undefined))).resolves.toMatchObject({
      id: 'tok_1',
    });
  });

  test('speaks although the note of its use is lost, which is reported', async () => {
    const lost = new Error('The database is away.');
    const reported = new Promise((resolve) => {
      void identify({}, TOKEN, () => Promise.reject(lost), resolve);
    });
    await expect(reported).resolves.toBe(lost);
  });
});
