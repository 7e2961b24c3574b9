import { InstanceIntegrationStatus as Status } from '../../../../generated/proto/integration/operator/v1/connections.js';
import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  configureInstanceIntegration,
  connectInstance,
  disconnectInstance,
  getInstanceIntegration,
} from '../../../domain/operator/instance-integrations.js';
import {
  createIntegration,
  getIntegration,
  updateIntegration,
} from '../../../domain/operator/integrations.js';
import type { InstanceIntegration, Integration } from '../../../domain/operator/rows/integrations.js';
import { listPage } from '../../../domain/platform/listing.js';
import type { Handlers } from '../../handlers.js';
import { assertKnown } from '../fields.js';
import { attributed } from '../writes.js';
import { type OperatorDependencies, writing } from './write.js';

export function integrationHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    ...writing(operator, {
      createIntegration: async (changes, request) => ({
        integration: toIntegration(await createIntegration(changes, request)),
      }),
      updateIntegration: async (changes, request) => ({
        integration: toIntegration(await updateIntegration(changes, request)),
      }),
      connectInstance: async (changes, request) => ({
        instanceIntegration: toInstanceIntegration(await connectInstance(changes, request)),
      }),
      disconnectInstance: async (changes, { instanceIntegrationId }) => ({
        deletedSubscriptions: await disconnectInstance(changes, instanceIntegrationId),
      }),
    }),
    getIntegration: async ({ integrationId }) => ({
      integration: toIntegration(await getIntegration(operator.unitOfWork.rows, integrationId)),
    }),
    listIntegrations: async (listing) => {
      const { integrations } = operator.unitOfWork.rows;
      const { rows: found, nextPageToken } = await listPage(listing, (page) => integrations.page(page));
      return { integrations: found.map(toIntegration), nextPageToken };
    },
    listInstanceIntegrations: async ({ integrationId, instanceId, status, ...listing }) => {
      assertKnown(status, 'status');
      const { instanceIntegrations } = operator.unitOfWork.rows;
      const filter = { integrationId, instanceId, configured: isConfigured(status) };
      const { rows, nextPageToken } = await listPage(listing, (page) =>
        instanceIntegrations.page(page, filter),
      );
      return { instanceIntegrations: rows.map(toInstanceIntegration), nextPageToken };
    },
    getInstanceIntegration: async ({ instanceIntegrationId }) => ({
      instanceIntegration: toInstanceIntegration(
        await getInstanceIntegration(operator.unitOfWork.rows, instanceIntegrationId),
      ),
    }),
    configureInstanceIntegration: async ({ instanceIntegrationId, status, expectedVersion }, context) => {
      const configuration = { id: instanceIntegrationId, configured: isConfigured(status), expectedVersion };
      const instanceIntegration = await configureInstanceIntegration(
        attributed(operator, context),
        configuration,
      );
      return { instanceIntegration: toInstanceIntegration(instanceIntegration) };
    },
  };
}

/**
 * Only the notices contain the full address. Reads of them are recorded in the audit log, except those by the
 * platform.
 */
function toIntegration({ contactEmail, ...integration }: Integration) {
  return { ...integration, contactHint: contactEmail?.replace(/^(.).*@/, '$1…@') ?? '' };
}

function isConfigured(status: Status): boolean | undefined {
  return status === Status.CONFIGURED ? true : status === Status.NOT_CONFIGURED ? false : undefined;
}

function toInstanceIntegration(instanceIntegration: InstanceIntegration) {
  return {
    ...instanceIntegration,
    status: instanceIntegration.configuredAt === null ? Status.NOT_CONFIGURED : Status.CONFIGURED,
  };
}
