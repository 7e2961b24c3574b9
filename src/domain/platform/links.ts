import type { ClientId, UserId, WorkerId } from '../../../generated/ids.js';

/** Stands for the receiver's instance integration until the event is sent to one. */
export const RECEIVER = '{instanceIntegrationId}';

export function linkToClient(clientId: ClientId): string {
  return `/v1/instance-integrations/${RECEIVER}/clients/${clientId}`;
}

export function linkToUser(clientId: ClientId, userId: UserId): string {
  return `${linkToClient(clientId)}/users/${userId}`;
}

export function linkToWorker(clientId: ClientId, workerId: WorkerId): string {
  return `/v2/instance-integrations/${RECEIVER}/clients/${clientId}/workers/${workerId}`;
}

/** Units, unit types and locations have no address of their own; they are found in here by their ids. */
export function linkToOrganizationStructure(clientId: ClientId): string {
  return `${linkToClient(clientId)}/organization-structure`;
}
