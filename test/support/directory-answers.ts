import type { ListInstanceIntegrationsResponse } from '../../generated/proto/integration/directory/v1/directory.js';
import type { RateLimit } from '../../src/errors/service-error.js';
import { newPublicId } from '../../src/identifiers/public-id.js';
import type { Directory } from './gateway.js';

export const rateLimit: RateLimit = { limit: 600, remaining: 587, resetSeconds: 41 };

/** Answers with these rows at this version, or that nothing changed, as the domain does. */
export function instanceIntegrationsAt(
  version: string,
  rows: ListInstanceIntegrationsResponse['instanceIntegrations'] = [],
): Directory {
  return {
    listInstanceIntegrations: async ({ context }) => {
      const notModified = context?.anyVersionKnown || context?.knownVersions.includes(version) || false;
      const header = { version, notModified, rateLimit, integrationId: 'itg_1', apiKeyId: 'key-1' };
      return { header, instanceIntegrations: notModified ? [] : rows };
    },
  };
}

export function anInstanceIntegration(instanceName: string) {
  return {
    id: newPublicId('InstanceIntegrationId'),
    applicationInstance: { id: newPublicId('InstanceId'), instanceName },
    createdAt: new Date('2025-11-04T09:12:31.418Z'),
    updatedAt: new Date('2026-02-17T15:40:02.007Z'),
  };
}
