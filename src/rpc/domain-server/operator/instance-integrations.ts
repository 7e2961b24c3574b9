import { InstanceIntegrationStatus as Status } from '../../../../generated/proto/integration/operator/v1/connections.js';
import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  configureInstanceIntegration,
  connectInstance,
  disconnectInstance,
  getInstanceIntegration,
} from '../../../domain/operator/instance-integrations.js';
import type { InstanceIntegration } from '../../../domain/operator/rows/integrations.js';
import { listPage } from '../../../domain/platform/listing.js';
import type { Handlers } from '../../handlers.js';
import { attributed } from '../writes.js';
import { type OperatorDependencies, writing } from './write.js';

export function instanceIntegrationHandlers(
  operator: OperatorDependencies,
): Handlers<OperatorServiceService> {
  return {
    ...writing(operator, {
      connectInstance: async (changes, request) => ({
        instanceIntegration: toMessage(await connectInstance(changes, request)),
      }),
      disconnectInstance: async (changes, { instanceIntegrationId }) => ({
        deletedSubscriptions: await disconnectInstance(changes, instanceIntegrationId),
      }),
    }),
    listInstanceIntegrations: async ({ integrationId, instanceId, status, ...listing }) => {
      const { instanceIntegrations } = operator.unitOfWork.rows;
      const filter = { integrationId, instanceId, configured: isConfigured(status) };
      const { rows, nextPageToken } = await listPage(listing, (page) =>
        instanceIntegrations.page(page, filter),
      );
      return { instanceIntegrations: rows.map(toMessage), nextPageToken };
    },
    getInstanceIntegration: async ({ instanceIntegrationId }) => ({
      instanceIntegration: toMessage(
        await getInstanceIntegration(operator.unitOfWork.rows, instanceIntegrationId),
      ),
    }),
    configureInstanceIntegration: async ({ instanceIntegrationId, status, expectedVersion }, context) => {
      const configuration = { id: instanceIntegrationId, configured: isConfigured(status), expectedVersion };
      const instanceIntegration = await configureInstanceIntegration(
        attributed(operator, context),
        configuration,
      );
      return { instanceIntegration: toMessage(instanceIntegration) };
    },
  };
}

function isConfigured(status: Status): boolean | undefined {
  return status === Status.CONFIGURED ? true : status === Status.NOT_CONFIGURED ? false : undefined;
}

function toMessage(instanceIntegration: InstanceIntegration) {
  return {
    ...instanceIntegration,
    status: instanceIntegration.configuredAt === null ? Status.NOT_CONFIGURED : Status.CONFIGURED,
  };
}
