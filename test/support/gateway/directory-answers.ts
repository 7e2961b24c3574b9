import {
  type Client,
  DirectoryServiceService,
  type ListInstanceIntegrationsResponse,
  type ReadContext,
  type User,
  UserStatus,
  type Worker,
} from '../../../generated/proto/integration/directory/v1/directory.js';
import type { RateLimit } from '../../../src/errors/service-error.js';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import type { CallContext } from '../../../src/rpc/handlers.js';
import type { Directory } from './gateway.js';

export const rateLimit: RateLimit = { limit: 600, remaining: 587, resetSeconds: 41 };

export type Asked = { context?: ReadContext } & Record<string, unknown>;

export function headerAt(version: string, notModified = false) {
  return { version, notModified, rateLimit, integrationId: 'itg_1', apiKeyId: 'key-1' };
}

/** Answers a method with these messages at this version, or not modified. Keeps requests in `asked`. */
export function answering(
  method: keyof Directory,
  version: string,
  messages: readonly object[],
  asked: Asked[] = [],
): Directory {
  const answer = (request: Asked): object[] => {
    asked.push(request);
    const { context } = request;
    const known = context?.anyVersionKnown || context?.knownVersions.includes(version) || false;
    const [first = {}, ...rest] = messages;
    const kept = Object.entries(first).map(([name, value]) => [name, Array.isArray(value) ? [] : undefined]);
    return known
      ? [{ ...Object.fromEntries(kept), header: headerAt(version, true) }]
      : [{ ...first, header: headerAt(version) }, ...rest];
  };
  const handler = DirectoryServiceService[method].responseStream
    ? async function* (request: Asked) {
        yield* answer(request);
      }
    : async (request: Asked) => answer(request)[0];
  return { [method]: handler } as Directory;
}

/** Refuses whatever is asked, or does what this does instead of answering. */
export function refusing(method: keyof Directory, refuse: (call: CallContext) => unknown): Directory {
  return { [method]: (_: Asked, call: CallContext) => refuse(call) } as unknown as Directory;
}

export function instanceIntegrationsAt(
  version: string,
  rows: ListInstanceIntegrationsResponse['instanceIntegrations'] = [],
): Directory {
  return answering('listInstanceIntegrations', version, [{ instanceIntegrations: rows }]);
}

export function anInstanceIntegration(instanceName: string) {
  return {
    id: newPublicId('InstanceIntegrationId'),
    applicationInstance: { id: newPublicId('InstanceId'), instanceName },
    createdAt: new Date('2025-11-04T09:12:31.418Z'),
    updatedAt: new Date('2026-02-17T15:40:02.007Z'),
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

export function aClient(over: Partial<Client> = {}): Client {
  return { id: newPublicId('ClientId'), name: 'Tallowfern', location: fullAddress, ...over };
}

export function aWorker(over: Partial<Worker> = {}): Worker {
  return {
    id: newPublicId('WorkerId'),
    firstName: 'Maren',
    lastName: 'Okafor',
    fullName: 'Maren Okafor',
    email: 'maren.okafor@example.com',
    jobTitles: ['Baker', 'Driver'],
    phone: '+1 207 555 0100',
    location: fullAddress,
    organizationUnits: [],
    organizationUnit: undefined,
    organizationLocation: undefined,
    ...over,
  };
}

export function aUser(over: Partial<User> = {}): User {
  return {
    userId: newPublicId('UserId'),
    clientId: newPublicId('ClientId'),
    email: 'eliseo.brandt@example.com',
    firstName: 'Eliseo',
    lastName: 'Brandt',
    fullName: 'Eliseo Brandt',
    status: UserStatus.ACTIVE,
    manager: undefined,
    role: undefined,
    createdAt: new Date('2025-11-04T09:12:31.418Z'),
    ...over,
  };
}
