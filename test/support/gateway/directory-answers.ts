import type { components } from '../../../generated/openapi/gateway.js';
import type {
  ReadContext,
  ReadRequest,
  ReadResponse,
} from '../../../generated/proto/integration/directory/v1/directory.js';
import type { RateLimit } from '../../../src/errors/service-error.js';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import type { CallContext } from '../../../src/rpc/handlers.js';
import type { Directory } from './gateway.js';

type Schemas = components['schemas'];

export const rateLimit: RateLimit = { limit: 600, remaining: 587, resetSeconds: 41 };

export type Asked = { context?: ReadContext } & Record<string, unknown>;

export function headerAt(version: string, notModified = false) {
  return { version, notModified, rateLimit, integrationId: 'itg_1', apiKeyId: 'key-1' };
}

export const bytesOf = (body: unknown) => Buffer.from(JSON.stringify(body));

/** What is answered at once; with more pages, the beginning of a list. */
export function firstOf(
  version: string,
  body: unknown,
  { limit, nextCursor, hasRest = false }: { limit?: number; nextCursor?: string; hasRest?: boolean } = {},
): ReadResponse {
  const rest = hasRest ? { cursor: 'rest', limit } : undefined;
  return { header: headerAt(version), body: bytesOf(body), nextCursor, rest };
}

/** Answers with these pages at this version, or not modified. Keeps requests in `asked`. */
export function answering(
  version: string,
  [first, ...others]: readonly unknown[],
  asked: Asked[] = [],
  nextCursor?: string,
): Directory {
  return {
    read: async (request: ReadRequest) => {
      asked.push({ ...request });
      const { context, limit } = request;
      const isKnown = context?.anyVersionKnown || context?.knownVersions.includes(version);
      const hasRest = others.length > 0;
      return isKnown
        ? { header: headerAt(version, true), body: Buffer.alloc(0) }
        : firstOf(version, first, { limit, hasRest, nextCursor: hasRest ? undefined : nextCursor });
    },
    readRest: async function* () {
      for (const [index, page] of others.entries()) {
        yield { body: bytesOf(page), nextCursor: index === others.length - 1 ? nextCursor : undefined };
      }
    },
  };
}

/** Refuses whatever is asked, or does what this does instead of answering. */
export function refusing(refuse: (call: CallContext) => unknown): Directory {
  return { read: (_: ReadRequest, call: CallContext) => refuse(call) } as unknown as Directory;
}

export function instanceIntegrationsAt(
  version: string,
  rows: Schemas['InstanceIntegration'][] = [],
): Directory {
  return answering(version, [rows]);
}

export function anInstanceIntegration(instanceName: string): Schemas['InstanceIntegration'] {
  return {
    id: newPublicId('InstanceIntegrationId'),
    applicationInstance: { id: newPublicId('InstanceId'), instanceName },
    createdAt: '2025-11-04T09:12:31.418Z',
    updatedAt: '2026-02-17T15:40:02.007Z',
  };
}

/** A postal address with every part, and one without any. */
export const fullAddress = {
  address1: '18 Harbour Street',
  address2: 'Suite 400',
  city: 'Portland',
  isoCountryCode: 'US',
  postalCode: '04101',
  zoneCode: 'ME',
};
export const noAddress = {
  address1: null,
  address2: null,
  city: null,
  isoCountryCode: null,
  postalCode: null,
  zoneCode: null,
};

export function aClient(over: Partial<Schemas['TenantClient']> = {}): Schemas['TenantClient'] {
  return { id: newPublicId('ClientId'), name: 'Tallowfern', location: fullAddress, ...over };
}

export function aWorker(over: Partial<Schemas['Worker']> = {}): Schemas['Worker'] {
  return {
    id: newPublicId('WorkerId'),
    firstName: 'Maren',
    lastName: 'Okafor',
    fullName: 'Maren Okafor',
    email: 'maren.okafor@example.com',
    jobTitles: ['Baker', 'Driver'],
    phone: '+1 207 555 0100',
    location: fullAddress,
    ...over,
  };
}

export function aWorkerV2(over: Partial<Schemas['WorkerV2']> = {}): Schemas['WorkerV2'] {
  const place = { organizationUnits: [], organizationUnit: null, organizationLocation: null };
  return { ...aWorker(), ...place, offboardedAt: null, ...over };
}

export function aUser(over: Partial<Schemas['User']> = {}): Schemas['User'] {
  return {
    userId: newPublicId('UserId'),
    clientId: newPublicId('ClientId'),
    email: 'eliseo.brandt@example.com',
    firstName: 'Eliseo',
    lastName: 'Brandt',
    fullName: 'Eliseo Brandt',
    status: 'ACTIVE',
    manager: null,
    role: null,
    createdAt: '2025-11-04T09:12:31.418Z',
    ...over,
  };
}
