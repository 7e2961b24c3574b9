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
      createIntegration: (changes, request) => integrationAnswer(createIntegration(changes, request)),
      updateIntegration: (changes, request) => integrationAnswer(updateIntegration(changes, request)),
      connectInstance: (changes, request) => connectionAnswer(connectInstance(changes, request)),
      disconnectInstance: async (changes, { instanceIntegrationId }) => ({
        deletedSubscriptions: await disconnectInstance(changes, instanceIntegrationId),
      }),
    }),
    getIntegration: ({ integrationId }) =>
      integrationAnswer(getIntegration(operator.unitOfWork.rows, integrationId)),
    listIntegrations: async (listing) => {
      const { integrations } = operator.unitOfWork.rows;
      const found = await listPage(listing, (page) => integrations.page(page));
      return { ...found, integrations: found.rows.map(toIntegration) };
    },
    listInstanceIntegrations: async ({ integrationId, instanceId, status, ...listing }) => {
      assertKnown(status, 'status');
      const filter = { integrationId, instanceId, configured: isConfigured(status) };
      const { instanceIntegrations } = operator.unitOfWork.rows;
      const found = await listPage(listing, (page) => instanceIntegrations.page(page, filter));
      return { ...found, instanceIntegrations: found.rows.map(toInstanceIntegration) };
    },
    getInstanceIntegration: ({ instanceIntegrationId }) =>
      connectionAnswer(getInstanceIntegration(operator.unitOfWork.rows, instanceIntegrationId)),
    configureInstanceIntegration: ({ instanceIntegrationId, status, expectedVersion }, context) => {
      const configuration = { id: instanceIntegrationId, configured: isConfigured(status), expectedVersion };
      return connectionAnswer(configureInstanceIntegration(attributed(operator, context), configuration));
    },
  };
}

async function integrationAnswer(integration: Promise<Integration>) {
  return { integration: toIntegration(await integration) };
}

async function connectionAnswer(connection: Promise<InstanceIntegration>) {
  return { instanceIntegration: toInstanceIntegration(await connection) };
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
