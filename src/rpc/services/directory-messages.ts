import {
  type Client as ClientMessage,
  type InstanceIntegration as InstanceIntegrationMessage,
  type OrganizationStructure as OrganizationStructureMessage,
  type User as UserMessage,
  UserStatus as UserStatusMessage,
  type Worker as WorkerMessage,
} from '../../../generated/proto/integration/directory/v1/directory.js';
import type { Client } from '../../domain/directory/clients.js';
import type { InstanceIntegration } from '../../domain/directory/instance-integrations.js';
import type { OrganizationStructure } from '../../domain/directory/organization.js';
import type { User } from '../../domain/directory/users.js';
import type { Worker } from '../../domain/directory/workers.js';
import { toAddressMessage } from './address-message.js';

export function toInstanceIntegration(from: InstanceIntegration): InstanceIntegrationMessage {
  return {
    id: from.id,
    applicationInstance: { id: from.instanceId, instanceName: from.instanceName },
    createdAt: new Date(from.createdAt),
    updatedAt: new Date(from.updatedAt),
  };
}

export function toClient({ id, name, address }: Client): ClientMessage {
  return { id, name, location: toAddressMessage(address) };
}

export function toWorker(from: Worker): WorkerMessage {
  return {
    id: from.id,
    firstName: from.firstName,
    lastName: from.lastName,
    fullName: from.fullName,
    email: from.email,
    jobTitles: from.jobTitles,
    phone: from.phone ?? undefined,
    location: toAddressMessage(from.address),
    organizationUnits: from.units,
    organizationUnit: from.primaryUnit ?? undefined,
    organizationLocation: from.location ?? undefined,
  };
}

export function toUser(from: User): UserMessage {
  return {
    userId: from.id,
    clientId: from.clientId,
    email: from.email,
    firstName: from.firstName ?? undefined,
    lastName: from.lastName ?? undefined,
    fullName: from.fullName ?? undefined,
    status: UserStatusMessage[from.status],
    manager: from.manager
      ? {
          id: from.manager.id,
          firstName: from.manager.firstName ?? undefined,
          lastName: from.manager.lastName ?? undefined,
          fullName: from.manager.fullName ?? undefined,
          email: from.manager.email,
        }
      : undefined,
    role: from.role ?? undefined,
    createdAt: new Date(from.createdAt),
  };
}

export function toOrganizationStructure({
  unitTypes,
  units,
  locations,
}: OrganizationStructure): OrganizationStructureMessage {
  return {
    unitTypes,
    units: units.map(({ id, name, description, unitTypeId, parentUnitId }) => ({
      id,
      name,
      description: description ?? undefined,
      unitTypeId,
      parentUnitId: parentUnitId ?? undefined,
    })),
    locations,
  };
}
