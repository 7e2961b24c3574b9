import {
  type InstanceIntegration,
  InstanceIntegrationStatus as Status,
} from '../../../../generated/proto/integration/operator/v1/connections.js';
import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  type Connection,
  configureConnection,
  connectInstance,
  disconnectInstance,
  getConnection,
} from '../../../domain/operator/connections.js';
import { listPage } from '../../../domain/platform/listing.js';
import { closeRestOf } from '../../../domain/webhooks/subscription-connection.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import type { Handlers } from '../../handlers.js';
import { actorOf } from '../actor.js';
import { type OperatorDependencies, write } from './write.js';

export function connectionHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    connectInstance: (request, context) =>
      write(operator, context, async (changes) => ({
        instanceIntegration: toMessage(await connectInstance(changes, request)),
      })),
    listInstanceIntegrations: async ({ integrationId, instanceId, status, ...listing }) => {
      const { connections } = operator.unitOfWork.rows;
      const filter = { integrationId, instanceId, configured: isConfigured(status) };
      const { rows, nextPageToken } = await listPage(listing, (page) => connections.page(page, filter));
      return { instanceIntegrations: rows.map(toMessage), nextPageToken };
    },
    getInstanceIntegration: async ({ instanceIntegrationId }) => ({
      instanceIntegration: toMessage(await getConnection(operator.unitOfWork.rows, instanceIntegrationId)),
    }),
    configureInstanceIntegration: async ({ instanceIntegrationId, status, expectedVersion }, context) => {
      const configured = isConfigured(status);
      if (configured === undefined) {
        const fieldViolations = [{ path: 'status', message: 'must be configured or not configured' }];
        throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The status is not one to have.', {
          fieldViolations,
        });
      }
      if (configured) {
        await closeRestOf(operator.unitOfWork, actorOf(context), instanceIntegrationId);
      }
      return write(operator, context, async (changes) => ({
        instanceIntegration: toMessage(
          await configureConnection(changes, { id: instanceIntegrationId, configured, expectedVersion }),
        ),
      }));
    },
    disconnectInstance: ({ instanceIntegrationId }, context) =>
      write(operator, context, async (changes) => ({
        deletedSubscriptions: await disconnectInstance(changes, instanceIntegrationId),
      })),
  };
}

function isConfigured(status: Status): boolean | undefined {
  return status === Status.CONFIGURED ? true : status === Status.NOT_CONFIGURED ? false : undefined;
}

function toMessage(connection: Connection): InstanceIntegration {
  const { id, integrationId, instanceId, instanceName, configuredAt, version } = connection;
  return {
    id,
    integrationId,
    instanceId,
    instanceName,
    status: configuredAt === null ? Status.NOT_CONFIGURED : Status.CONFIGURED,
    createdAt: new Date(connection.createdAt),
    updatedAt: new Date(connection.updatedAt),
    version,
  };
}
