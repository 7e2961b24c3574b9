import { describe, expect, test } from '@jest/globals';
import {
  type FoundVisit,
  Gatekeeper,
  type Reached,
  type StoredApiKey,
} from '../../../src/domain/access/gatekeeper.js';
import { RateLimiter } from '../../../src/domain/access/rate-limiter.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { fakeClock } from '../clock.js';

const nothing = () => undefined;
const HASH = new Uint8Array([1, 2, 3]);
const instanceIntegration = { instanceId: 'ins_1', configured: true } as const;
const CLIENT = 'cli_1' as const;
const rateLimit = { limit: 2, remaining: 1, resetSeconds: 60 };
const keyHolder = { integrationId: 'itg_1', apiKeyId: 'key_1' };

const DOORS = ['admitToInstance', 'admitToClient'] as const;

/** A gatekeeper over a store in which the key reaches this much of the path. */
function gate(reached: Reached | 'no key', key: Partial<StoredApiKey> = {}, limit = 2) {
  const clock = fakeClock();
  const asked: unknown[][] = [];
  const stored = {
    id: 'key_1',
    integrationId: 'itg_1',
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: clock.now(),
  };
  const found =
    reached === 'no key' ? undefined : { key: { ...stored, ...key }, version: 'version-1', ...reached };
  const find = async (...path: unknown[]) => {
    asked.push(path);
    return found as FoundVisit | undefined;
  };
  const visits = {
    findKey: find,
    findInstanceIntegration: find,
    findClient: find,
    markUsed: async () => undefined,
  };
  const limiter = new RateLimiter({ limit, windowMs: 60_000 }, clock.now);
  const gatekeeper = new Gatekeeper(visits, limiter, clock.now, nothing, nothing);
  return {
    asked,
    admitToInstance: () => gatekeeper.admitToInstance({ apiKeyHash: HASH }, 'iin_1'),
    admitToClient: () => gatekeeper.admitToClient({ apiKeyHash: HASH }, 'iin_1', CLIENT),
  };
}

async function refusalOf(admission: Promise<unknown>): Promise<ServiceError> {
  const refusal = await admission.catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ServiceError);
  return refusal as ServiceError;
}

describe('the gatekeeper', () => {
  test('admits a key to the instance of its instance integration, with the version of the instance', async () => {
    const { admitToInstance, asked } = gate({ instanceIntegration });
    await expect(admitToInstance()).resolves.toEqual({
      integrationId: 'itg_1',
      apiKeyId: 'key_1',
      version: 'version-1',
      instanceId: 'ins_1',
      rateLimit,
    });
    expect(asked).toEqual([[HASH, 'iin_1']]);
  });

  test('admits a key to a client of that instance, in one read of the store', async () => {
    const { admitToClient, asked } = gate({ instanceIntegration, client: CLIENT });
    await expect(admitToClient()).resolves.toMatchObject({
      instanceId: 'ins_1',
      clientId: 'cli_1',
      rateLimit,
    });
    expect(asked).toEqual([[HASH, 'iin_1', 'cli_1']]);
  });

  test.each(DOORS)(
    '%s says in the words of the contract that an instance integration is not there',
    async (door) => {
      const refusal = await refusalOf(gate({})[door]());
      expect([refusal.code, refusal.message]).toEqual([
        ErrorCode.INSTANCE_INTEGRATION_NOT_FOUND,
        'Instance integration not found',
      ]);
    },
  );

  test.each(DOORS)(
    '%s says in the words of the contract that an instance integration is not set up',
    async (door) => {
      const reached = { instanceIntegration: { ...instanceIntegration, configured: false }, client: CLIENT };
      const refusal = await refusalOf(gate(reached)[door]());
      expect([refusal.code, refusal.message]).toEqual([
        ErrorCode.INSTANCE_INTEGRATION_NOT_CONFIGURED,
        'Instance integration not configured',
      ]);
    },
  );

  test('refuses a client that the instance integration does not reach', async () => {
    const refusal = await refusalOf(gate({ instanceIntegration }).admitToClient());
    expect([refusal.code, refusal.message]).toEqual([ErrorCode.CLIENT_NOT_FOUND, 'Client not found']);
  });

  test.each<{ title: string; reached: Reached }>([
    { title: 'no instance integration', reached: {} },
    {
      title: 'an instance integration that is not set up',
      reached: { instanceIntegration: { ...instanceIntegration, configured: false } },
    },
    { title: 'no client', reached: { instanceIntegration } },
  ])('what finds $title is counted, and told where the caller stands', async ({ reached }) => {
    const { admitToClient } = gate(reached);
    expect(await refusalOf(admitToClient())).toMatchObject({ rateLimit, keyHolder });
    expect((await refusalOf(admitToClient())).rateLimit).toEqual({ ...rateLimit, remaining: 0 });
    const refusal = await refusalOf(admitToClient());
    expect([refusal.code, refusal.keyHolder]).toEqual([ErrorCode.RATE_LIMITED, keyHolder]);
  });

  test.each(DOORS)('%s checks the key first, then the rate, then the path', async (door) => {
    expect((await refusalOf(gate('no key', {}, 0)[door]())).code).toBe(ErrorCode.API_KEY_UNKNOWN);
    expect((await refusalOf(gate({}, { revokedAt: 1 }, 0)[door]())).code).toBe(ErrorCode.API_KEY_UNKNOWN);
    expect((await refusalOf(gate({}, { expiresAt: 1 }, 0)[door]())).code).toBe(ErrorCode.API_KEY_EXPIRED);
    expect((await refusalOf(gate({}, {}, 0)[door]())).code).toBe(ErrorCode.RATE_LIMITED);
  });
});
