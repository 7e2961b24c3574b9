import type { InstanceId, InstanceIntegrationId } from '../../../generated/ids.js';
import type { components } from '../../../generated/openapi/gateway.js';
import type { InstanceIntegration } from '../../../generated/proto/integration/directory/v1/directory.js';
import type { GatewayHandler } from './gateway-handler.js';
import { beginRead } from './read.js';

export const listInstanceIntegrations: GatewayHandler<'listInstanceIntegrations'> = async (
  request,
  dependencies,
) => {
  const read = beginRead(request, dependencies, 'listInstanceIntegrations', '');
  const { header, instanceIntegrations } = await dependencies.directory.listInstanceIntegrations(
    { context: read.context },
    { requestId: request.requestId },
  );
  const headers = read.headersOf(header);
  return header?.notModified
    ? { status: 304, headers }
    : { status: 200, headers, body: instanceIntegrations.map(toInstanceIntegration) };
};

function toInstanceIntegration(message: InstanceIntegration): components['schemas']['InstanceIntegration'] {
  return {
    id: message.id as InstanceIntegrationId,
    applicationInstance: {
      id: message.applicationInstance?.id as InstanceId,
      instanceName: message.applicationInstance?.instanceName ?? '',
    },
    createdAt: message.createdAt?.toISOString() ?? '',
    updatedAt: message.updatedAt?.toISOString() ?? '',
  };
}
