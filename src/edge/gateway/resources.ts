import type { ClientId, LocationId, UnitId, UnitTypeId, UserId, WorkerId } from '../../../generated/ids.js';
import type { components } from '../../../generated/openapi/gateway.js';
import type * as messages from '../../../generated/proto/integration/directory/v1/directory.js';
import { internalError } from '../../errors/service-error.js';

type Schemas = components['schemas'];

/** Messages of the domain in the shapes of the contract: absent fields become null, ids get their types. */

export function toClient({ id, name, location }: messages.Client): Schemas['Client'] {
  return { id: id as ClientId, name, location: toAddress(location) };
}

export function toWorker(from: messages.Worker): Schemas['Worker'] {
  return {
    id: from.id as WorkerId,
    firstName: from.firstName,
    lastName: from.lastName,
    fullName: from.fullName,
    email: from.email,
    jobTitles: from.jobTitles,
    phone: from.phone ?? null,
    location: toAddress(from.location),
  };
}

export function toWorkerV2(from: messages.Worker): Schemas['WorkerV2'] {
  return {
    ...toWorker(from),
    organizationUnits: from.organizationUnits.map(({ id, name }) => ({ id: id as UnitId, name })),
    organizationUnit: from.organizationUnit
      ? { id: from.organizationUnit.id as UnitId, name: from.organizationUnit.name }
      : null,
    organizationLocation: from.organizationLocation
      ? { id: from.organizationLocation.id as LocationId, name: from.organizationLocation.name }
      : null,
  };
}

export function toUser(from: messages.User): Schemas['User'] {
  return {
    userId: from.userId as UserId,
    clientId: from.clientId as ClientId,
    email: from.email,
    firstName: from.firstName ?? null,
    lastName: from.lastName ?? null,
    fullName: from.fullName ?? null,
    status: from.status.replace('USER_STATUS_', '') as Schemas['UserStatus'],
    manager: from.manager ? toManager(from.manager) : null,
    role: from.role ? { id: from.role.id, name: from.role.name } : null,
    createdAt: toTimestamp(from.createdAt),
  };
}

export function toOrganizationStructure(
  from: messages.OrganizationStructure,
): Schemas['OrganizationStructure'] {
  return {
    unitsTypes: from.unitTypes.map(({ id, name }) => ({ id: id as UnitTypeId, name })),
    units: from.units.map((unit) => ({
      id: unit.id as UnitId,
      name: unit.name,
      description: unit.description ?? null,
      unitTypeId: unit.unitTypeId as UnitTypeId,
      parentUnitId: (unit.parentUnitId as UnitId | undefined) ?? null,
    })),
    locations: from.locations.map(({ id, name }) => ({ id: id as LocationId, name })),
  };
}

export function toTimestamp(date: Date | undefined): string {
  return present(date).toISOString();
}

/** A field that the gRPC contract promises and proto3 cannot require. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) {
    throw internalError(new Error('the domain left out what it promises'));
  }
  return value;
}

function toManager(from: messages.Manager): Schemas['UserManager'] {
  return {
    id: from.id as UserId,
    firstName: from.firstName ?? null,
    lastName: from.lastName ?? null,
    fullName: from.fullName ?? null,
    email: from.email,
  };
}

function toAddress(from: messages.Address | undefined): Schemas['Address'] {
  return {
    address1: from?.address1 ?? null,
    address2: from?.address2 ?? null,
    city: from?.city ?? null,
    isoCountryCode: from?.isoCountryCode ?? null,
    postalCode: from?.postalCode ?? null,
    zoneCode: from?.zoneCode ?? null,
  };
}
