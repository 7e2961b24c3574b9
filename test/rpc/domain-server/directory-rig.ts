import { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import { type FoundVisit, Gatekeeper } from '../../../src/domain/access/gatekeeper.js';
import { ListSlots } from '../../../src/domain/access/list-slots.js';
import { RateLimiter } from '../../../src/domain/access/rate-limiter.js';
import type { PageRequest } from '../../../src/domain/directory/page.js';
import type { DirectoryDependencies } from '../../../src/domain/directory/reads.js';
import { directoryService } from '../../../src/rpc/domain-server/directory.js';
import type { PageTurns } from '../../../src/rpc/message-streams.js';
import { listed } from '../../support/gateway/contract-rows.js';
import { rpcRigs } from '../rig.js';

export const NOW = 1_790_000_000_123;
const clock = () => NOW;
const nothing = () => undefined;
export const visit: FoundVisit = {
  key: { id: 'key_1', integrationId: 'itg_1', expiresAt: null, revokedAt: null, lastUsedAt: NOW },
  version: 'now',
  instanceIntegration: { instanceId: 'ins_1', configured: true },
  client: 'cli_1',
};
export const header = { version: 'now', notModified: false, integrationId: 'itg_1', apiKeyId: 'key_1' };
const bare = {
  address1: null,
  address2: null,
  city: null,
  isoCountryCode: null,
  postalCode: null,
  zoneCode: null,
};
const named = (id: string) => ({ id, name: `Name of ${id}` });

export const client = {
  id: 'cli_1',
  name: 'Tallowfern',
  location: { ...bare, city: 'Portland' },
} as const;
export const worker = {
  ...{
    id: 'wrk_1',
    firstName: 'Maren',
    lastName: 'Okafor',
    fullName: 'Maren Okafor',
    email: 'm@example.com',
  },
  ...{ jobTitles: ['Baker'], phone: null, location: bare },
  organizationUnits: [named('oun_1'), named('oun_2')],
  organizationUnit: named('oun_2'),
  organizationLocation: null,
  offboardedAt: null,
} as const;
const manager = {
  id: 'usr_2',
  firstName: null,
  lastName: 'Brandt',
  fullName: null,
  email: 'b@example.com',
} as const;
export const user = {
  ...{
    userId: 'usr_1',
    clientId: 'cli_1',
    email: 'u@example.com',
    firstName: null,
    lastName: null,
    fullName: null,
  },
  ...{ status: 'DELETED', manager, role: named('role_1'), createdAt: new Date(NOW).toISOString() },
} as const;
const unit = {
  id: 'oun_1',
  name: 'Kitchen',
  description: null,
  unitTypeId: 'out_1',
  parentUnitId: null,
} as const;

export const structure = { unitsTypes: [named('out_1')], units: [unit], locations: [named('olo_1')] };
const {
  organizationUnits: _,
  organizationUnit: __,
  organizationLocation: ___,
  offboardedAt: ____,
  ...plain
} = worker;
export const workerV1 = plain;

/**
 * Call it in a describe block. `over` has the answers of some stores by method; the other stores answer one
 * row of each kind.
 */
export function directoryRigs() {
  const rigs = rpcRigs();
  return async function serving(over: object = {}, turns?: PageTurns, find = async (_: Uint8Array) => visit) {
    const visits = {
      findKey: find,
      findInstanceIntegration: find,
      findClient: find,
      markUsed: async () => undefined,
    };
    const limiter = new RateLimiter({ limit: 10, windowMs: 60_000 }, () => NOW);
    const asked: unknown[][] = [];
    const store = (content: Record<string, unknown>) =>
      Object.fromEntries(
        Object.entries(content).map(([method, answer]) => [
          method,
          async (...what: unknown[]) => {
            asked.push([method, ...what]);
            return typeof answer === 'function' ? answer(...what) : answer;
          },
        ]),
      );
    const dependencies = {
      gatekeeper: new Gatekeeper(
        visits,
        limiter,
        clock,
        nothing,
        nothing,
        new ListSlots({ perIntegration: 1, inTotal: 5 }),
      ),
      clients: store({ page: listed([client], NOW), find: JSON.stringify(client) }),
      workers: store({
        page: listed([workerV1], NOW),
        pageV2: listed([worker], NOW),
        findV2: JSON.stringify(worker),
      }),
      users: store({ page: listed([user], NOW), find: JSON.stringify(user) }),
      organization: store({
        structureOf: JSON.stringify(structure),
        jobTitlesOf: JSON.stringify(['Baker']),
      }),
      instanceIntegrations: store({ listOf: '[]' }),
      ...Object.fromEntries(Object.entries(over).map(([name, content]) => [name, store(content)])),
    } as unknown as DirectoryDependencies;
    const service = directoryService(dependencies, turns);
    const rig = await rigs.start([service]);
    const { read, readRest } = service.handlers;
    return { directory: rig.channel().clientOf(DirectoryServiceService), asked, read, readRest };
  };
}

export const context = { apiKeyHash: Buffer.from('hash'), knownVersions: [], anyVersionKnown: false };
export const request = (operationId: string) => ({
  ...{ context, operationId, instanceIntegrationId: 'iin_1', clientId: 'cli_1' },
  ...{ workerId: 'wrk_1', userId: 'usr_1', limit: undefined, cursor: undefined },
});
export const call = { requestId: 'r', deadlineMs: 20_000 };
export const rateLimit = { limit: 10, remaining: 9, resetSeconds: 60 };

/** So many users, all created at the same time, and a `page` that reads them. */
export function manyUsers(count: number, over: object = {}) {
  const rows = Array.from({ length: count }, (_, index) => ({
    ...{ ...user, ...over },
    userId: `usr_${1_000 + index}`,
  }));
  const page = (_: string, { after, limit }: PageRequest) =>
    listed(rows.filter(({ userId }) => !after || userId > after.id).slice(0, limit), NOW);
  return { rows, page };
}

export async function collect<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const message of messages) {
    collected.push(message);
  }
  return collected;
}
