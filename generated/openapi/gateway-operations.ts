// Made by `make generate` from the contracts. Do not edit.

/** Every operation of the gateway contract, by its operation id. Security: alternatives of schemes needed together. */
export const operations = {
  listInstanceIntegrations: { method: 'get', path: '/v1/instance-integrations', security: [["apiKey"]] },
  listClients: { method: 'get', path: '/v1/instance-integrations/{instanceIntegrationId}/clients', security: [["apiKey"]] },
  getClient: { method: 'get', path: '/v1/instance-integrations/{instanceIntegrationId}/clients/{clientId}', security: [["apiKey"]] },
  listWorkers: { method: 'get', path: '/v1/instance-integrations/{instanceIntegrationId}/clients/{clientId}/workers', security: [["apiKey"]] },
  listJobTitles: { method: 'get', path: '/v1/instance-integrations/{instanceIntegrationId}/clients/{clientId}/job-titles', security: [["apiKey"]] },
  getOrganizationStructure: { method: 'get', path: '/v1/instance-integrations/{instanceIntegrationId}/clients/{clientId}/organization-structure', security: [["apiKey"]] },
  listUsers: { method: 'get', path: '/v1/instance-integrations/{instanceIntegrationId}/clients/{clientId}/users', security: [["apiKey"]] },
  getUser: { method: 'get', path: '/v1/instance-integrations/{instanceIntegrationId}/clients/{clientId}/users/{userId}', security: [["apiKey"]] },
  listWorkersV2: { method: 'get', path: '/v2/instance-integrations/{instanceIntegrationId}/clients/{clientId}/workers', security: [["apiKey"]] },
  getWorkerV2: { method: 'get', path: '/v2/instance-integrations/{instanceIntegrationId}/clients/{clientId}/workers/{workerId}', security: [["apiKey"]] },
  listChanges: { method: 'get', path: '/v1/instance-integrations/{instanceIntegrationId}/changes', security: [["apiKey"]] },
  getChangesDigest: { method: 'get', path: '/v1/instance-integrations/{instanceIntegrationId}/changes/digest', security: [["apiKey"]] },
} as const;

export type OperationId = keyof typeof operations;
