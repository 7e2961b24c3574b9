/** The handlers of the gateway, by operation id. */
import { type GatewayHandler, list, one } from './read.js';

export { listChanges } from './listChanges.js';

export const listInstanceIntegrations: GatewayHandler<'listInstanceIntegrations'> =
  one('listInstanceIntegrations');

export const listClients: GatewayHandler<'listClients'> = list('listClients');
export const getClient: GatewayHandler<'getClient'> = one('getClient');
export const listUsers: GatewayHandler<'listUsers'> = list('listUsers');
export const getUser: GatewayHandler<'getUser'> = one('getUser');
export const listWorkers: GatewayHandler<'listWorkers'> = list('listWorkers');
export const listWorkersV2: GatewayHandler<'listWorkersV2'> = list('listWorkersV2');
export const getWorkerV2: GatewayHandler<'getWorkerV2'> = one('getWorkerV2');

/** At most 8 MiB. The domain reads the list whole, as it reads the structure. */
export const listJobTitles: GatewayHandler<'listJobTitles'> = one('listJobTitles', { isLong: true });

/** At most 110 MiB. */
export const getOrganizationStructure: GatewayHandler<'getOrganizationStructure'> = one(
  'getOrganizationStructure',
  { isLong: true },
);

export const getChangesDigest: GatewayHandler<'getChangesDigest'> = one('getChangesDigest');
