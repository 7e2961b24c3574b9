import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  createIntegration,
  getIntegration,
  updateIntegration,
} from '../../../domain/operator/integrations.js';
import type { Integration } from '../../../domain/operator/rows/integrations.js';
import { listPage } from '../../../domain/platform/listing.js';
import type { Handlers } from '../../handlers.js';
import { type OperatorDependencies, writing } from './write.js';

export function integrationHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    ...writing(operator, {
      createIntegration: async (changes, request) => ({
        integration: toMessage(await createIntegration(changes, request)),
      }),
      updateIntegration: async (changes, request) => ({
        integration: toMessage(await updateIntegration(changes, request)),
      }),
    }),
    getIntegration: async ({ integrationId }) => ({
      integration: toMessage(await getIntegration(operator.unitOfWork.rows, integrationId)),
    }),
    listIntegrations: async (listing) => {
      const { integrations } = operator.unitOfWork.rows;
      const { rows: found, nextPageToken } = await listPage(listing, (page) => integrations.page(page));
      return { integrations: found.map(toMessage), nextPageToken };
    },
  };
}

/** Only the notices contain the full address: reading them is recorded in the audit log. */
function toMessage({ contactEmail, ...integration }: Integration) {
  return { ...integration, contactHint: contactEmail?.replace(/^(.).*@/, '$1…@') ?? '' };
}
