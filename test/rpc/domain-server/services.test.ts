import { describe, expect, test } from '@jest/globals';
import {
  DirectoryServiceService,
  type ReadContext,
} from '../../../generated/proto/integration/directory/v1/directory.js';
import { MaintenanceServiceService } from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import { Gatekeeper } from '../../../src/domain/access/gatekeeper.js';
import { RateLimiter } from '../../../src/domain/access/rate-limiter.js';
import type { DirectoryDependencies } from '../../../src/domain/directory/reads.js';
import type { PurgeReport } from '../../../src/domain/maintenance/purge.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { directoryService } from '../../../src/rpc/domain-server/directory.js';
import {
  type MaintenanceDependencies,
  maintenanceService,
} from '../../../src/rpc/domain-server/maintenance.js';
import { oneClock } from '../../domain/clock.js';
import { refusalOf, rpcRigs, TOKENS } from '../rig.js';
import { call, request } from './directory-rig.js';

const NOW = 1_790_000_000_123;
const KEY_HASH = Buffer.from('hash of the key');
const key = {
  id: 'key_1',
  integrationId: 'itg_1',
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: NOW,
} as const;
const row = {
  id: 'iin_1',
  applicationInstance: { id: 'ins_1', instanceName: 'Harborlight' },
  createdAt: new Date(NOW).toISOString(),
  updatedAt: new Date(NOW + 1).toISOString(),
} as const;
const header = {
  version: 'now',
  rateLimit: { limit: 10, remaining: 9, resetSeconds: 60 },
  integrationId: 'itg_1',
  apiKeyId: 'key_1',
};

describe('the services', () => {
  const rigs = rpcRigs();

  async function serving(held: PurgeReport['removed'] = {}) {
    const find = async (hash: Uint8Array) => (KEY_HASH.equals(hash) ? { key, version: 'now' } : undefined);
    const visits = {
      findKey: find,
      findInstanceIntegration: find,
      findClient: find,
      markUsed: async () => undefined,
    };
    const limiter = new RateLimiter({ limit: 10, windowMs: 60_000 }, () => NOW);
    const gatekeeper = new Gatekeeper(
      visits,
      limiter,
      () => NOW,
      () => undefined,
      () => undefined,
    );
    const instanceIntegrations = { listOf: async () => JSON.stringify([row]) };
    const rig = await rigs.start([
      directoryService({ gatekeeper, instanceIntegrations } as unknown as DirectoryDependencies),
      maintenanceService({
        purge: { remove: async (kind, _, limit) => Math.min(held[kind] ?? 0, limit) },
        retention: { credentialsMs: 1, sessionIdleMs: 1, idempotencyMs: 1, auditMs: 1 },
        ...oneClock(() => NOW),
      } as Partial<MaintenanceDependencies> as MaintenanceDependencies),
    ]);
    const directory = rig.channel().clientOf(DirectoryServiceService);
    const maintenance = rig.channel(TOKENS.maintenance).clientOf(MaintenanceServiceService);
    const read = (context: ReadContext | undefined) =>
      directory.read({ ...request('listInstanceIntegrations'), context }, call);
    const list = (context: Partial<ReadContext>) =>
      read({ apiKeyHash: KEY_HASH, knownVersions: [], anyVersionKnown: false, ...context });
    return {
      read,
      list,
      purge: (limit: number) => maintenance.purgeExpired({ limit }, call),
    };
  }

  test('give an integration its connections', async () => {
    const { list } = await serving();
    await expect(list({ knownVersions: ['old'] })).resolves.toEqual({
      header: { ...header, notModified: false },
      body: Buffer.from(JSON.stringify([row])),
    });
  });

  test.each([{ knownVersions: ['old', 'now'] }, { anyVersionKnown: true }])(
    'say that nothing changed to who holds the version: %j',
    async (context) => {
      const { list } = await serving();
      await expect(list(context)).resolves.toEqual({
        header: { ...header, notModified: true },
        body: Buffer.alloc(0),
      });
    },
  );

  test('refuse a read without a context, and one with an unknown key', async () => {
    const { read, list } = await serving();
    expect((await refusalOf(read(undefined))).code).toBe(ErrorCode.INVALID_REQUEST);
    expect((await refusalOf(list({ apiKeyHash: Buffer.alloc(0) }))).code).toBe(ErrorCode.API_KEY_UNKNOWN);
  });

  test.each([0, 1_001, 4_294_967_295])('refuse a purge of %s at once, and name the field', async (limit) => {
    const { purge } = await serving();
    const refusal = await refusalOf(purge(limit));
    expect(refusal.code).toBe(ErrorCode.INVALID_REQUEST);
    expect(refusal.fieldViolations).toEqual([{ path: 'limit', message: 'must be between 1 and 1000' }]);
  });

  test('tell what a purge removed, leaving out what it did not, and whether there may be more', async () => {
    const { purge } = await serving({ api_key: 5 });
    const counts = (count: number) => [{ kind: 'PURGED_KIND_API_KEY', count }];
    await expect(purge(1)).resolves.toEqual({ counts: counts(1), more: true, otherRunActive: false });
    await expect(purge(1_000)).resolves.toEqual({ counts: counts(5), more: false, otherRunActive: false });
  });

  test('report a purge each kind once', async () => {
    const { purge } = await serving({
      session: 2,
      idle_session: 3,
      grant: 1,
      attempt_count: 7,
      code_minute: 1,
    });
    const counts = [
      { kind: 'PURGED_KIND_SESSION', count: 5 },
      { kind: 'PURGED_KIND_CODE_MINUTE', count: 1 },
      { kind: 'PURGED_KIND_GRANT', count: 1 },
      { kind: 'PURGED_KIND_ATTEMPT_COUNT', count: 7 },
    ];
    await expect(purge(1_000)).resolves.toEqual({ counts, more: false, otherRunActive: false });
  });
});
