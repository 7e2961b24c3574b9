/** The handlers of the gateway, by operation id. */
export { getChangesDigest } from './getChangesDigest.js';
export { getClient } from './getClient.js';
export { getOrganizationStructure } from './getOrganizationStructure.js';
export { getUser } from './getUser.js';
export { getWorkerV2 } from './getWorkerV2.js';
export { listChanges } from './listChanges.js';
export { listClients } from './listClients.js';
export { listInstanceIntegrations } from './listInstanceIntegrations.js';
export { listJobTitles } from './listJobTitles.js';
export { listUsers } from './listUsers.js';
export { listWorkers } from './listWorkers.js';
export { listWorkersV2 } from './listWorkersV2.js';
