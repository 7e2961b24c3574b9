import type { InstanceId, InstanceIntegrationId } from '../../../generated/ids.js';
import type { components } from '../../../generated/openapi/gateway.js';
import type { InstanceIntegration } from '../../../generated/proto/integration/directory/v1/directory.js';
import type { GatewayHandler } from './gateway-handler.js';
import { beginRead, one } from './read.js';
import { present, toTimestamp } from './resources.js';

export const listInstanceIntegrations: GatewayHandler<'listInstanceIntegrations'> = async (
  request,
  dependencies,
) => {
  const read = beginRead(request, dependencies, 'listInstanceIntegrations');
  const question = { context: read.context };
  const { header, instanceIntegrations } = await dependencies.directory.listInstanceIntegrations(
    question,
    read.call,
  );
  return one(read, header, () => instanceIntegrations.map(toInstanceIntegration));
};

function toInstanceIntegration(from: InstanceIntegration): components['schemas']['InstanceIntegration'] {
  const { id, instanceName } = present(from.applicationInstance);
  return {
    id: from.id as InstanceIntegrationId,
    applicationInstance: { id: id as InstanceId, instanceName },
    createdAt: toTimestamp(from.createdAt),
    updatedAt: toTimestamp(from.updatedAt),
  };
}
