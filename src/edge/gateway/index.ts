import type { operations } from '../../../generated/openapi/gateway.js';
import type { Handlers } from '../contract/typed-handler.js';
import type { Identity } from './api-key.js';
import type { GatewayDependencies } from './dependencies.js';
import { getChangesDigest } from './getChangesDigest.js';
import { getClient } from './getClient.js';
import { getOrganizationStructure } from './getOrganizationStructure.js';
import { getUser } from './getUser.js';
import { getWorkerV2 } from './getWorkerV2.js';
import { listChanges } from './listChanges.js';
import { listClients } from './listClients.js';
import { listInstanceIntegrations } from './listInstanceIntegrations.js';
import { listJobTitles } from './listJobTitles.js';
import { listUsers } from './listUsers.js';
import { listWorkers } from './listWorkers.js';
import { listWorkersV2 } from './listWorkersV2.js';

/** Every operation of the gateway. */
export const gatewayHandlers: Required<Handlers<operations, GatewayDependencies, Identity>> = {
  getChangesDigest,
  getClient,
  getOrganizationStructure,
  getUser,
  getWorkerV2,
  listChanges,
  listClients,
  listInstanceIntegrations,
  listJobTitles,
  listUsers,
  listWorkers,
  listWorkersV2,
};
