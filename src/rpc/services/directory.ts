import {
  DirectoryServiceService,
  type ReadContext,
  type ReadHeader,
} from '../../../generated/proto/integration/directory/v1/directory.js';
import type { Gatekeeper } from '../../domain/access/gatekeeper.js';
import type { Answer, KnownVersions } from '../../domain/directory/answer.js';
import {
  type InstanceIntegration,
  type InstanceIntegrationStore,
  listInstanceIntegrations,
} from '../../domain/directory/instance-integrations.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { serve } from '../handlers.js';

export interface DirectoryDependencies {
  gatekeeper: Gatekeeper;
  instanceIntegrations: InstanceIntegrationStore;
}

export function directoryService({ gatekeeper, instanceIntegrations }: DirectoryDependencies) {
  return serve(DirectoryServiceService, ['service'], {
    listInstanceIntegrations: async ({ context }) => {
      const { keyHash, known } = readContext(context);
      const answer = await listInstanceIntegrations(gatekeeper, instanceIntegrations, keyHash, known);
      return { header: toHeader(answer), instanceIntegrations: (answer.content ?? []).map(toMessage) };
    },
  });
}

function readContext(context: ReadContext | undefined): { keyHash: Uint8Array; known: KnownVersions } {
  if (!context) {
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The context is missing.');
  }
  return {
    keyHash: context.apiKeyHash,
    known: { values: context.knownVersions, any: context.anyVersionKnown },
  };
}

function toHeader({ visitor, version, content }: Answer<unknown>): ReadHeader {
  const { rateLimit, integrationId, apiKeyId } = visitor;
  return { version, notModified: content === undefined, rateLimit, integrationId, apiKeyId };
}

function toMessage({ id, instanceId, instanceName, createdAt, updatedAt }: InstanceIntegration) {
  return {
    id,
    applicationInstance: { id: instanceId, instanceName },
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  };
}
