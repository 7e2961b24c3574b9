import type { Integration as IntegrationMessage } from '../../../../generated/proto/integration/operator/v1/integrations.js';
import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  createIntegration,
  getIntegration,
  type Integration,
  updateIntegration,
} from '../../../domain/operator/integrations.js';
import { listPage } from '../../../domain/platform/listing.js';
import type { Handlers } from '../../handlers.js';
import { type OperatorDependencies, write } from './write.js';

export function integrationHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    createIntegration: (request, context) =>
      write(operator, context, async (changes) => ({
        integration: toMessage(await createIntegration(changes, request)),
      })),
    getIntegration: async ({ integrationId }) => ({
      integration: toMessage(await getIntegration(operator.unitOfWork.rows, integrationId)),
    }),
    listIntegrations: async (listing) => {
      const { integrations } = operator.unitOfWork.rows;
      const { rows, nextPageToken } = await listPage(listing, (page) => integrations.page(page));
      return { integrations: rows.map(toMessage), nextPageToken };
    },
    updateIntegration: (request, context) =>
      write(operator, context, async (changes) => ({
        integration: toMessage(await updateIntegration(changes, request)),
      })),
  };
}

function toMessage({ id, name, version, createdAt, updatedAt }: Integration): IntegrationMessage {
  return { id, name, version, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
}
