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

/** For units, unit types and locations, which have no URL of their own: this resource lists them by id. */
export function linkToOrganizationStructure(clientId: ClientId): string {
  return `${linkToClient(clientId)}/organization-structure`;
}
