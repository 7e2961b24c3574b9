import type { ClientId, UserId, WorkerId } from '../../../generated/ids.js';

/** Replaced by the receiver's instance integration when the event is sent. */
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

/** Units, unit types and locations have no address; they are found in this one by id. */
export function linkToOrganizationStructure(clientId: ClientId): string {
  return `${linkToClient(clientId)}/organization-structure`;
}
