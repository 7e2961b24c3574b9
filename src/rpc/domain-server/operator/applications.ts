import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  createApplication,
  getApplication,
  setApplicationEnabled,
  updateApplication,
} from '../../../domain/operator/applications.js';
import { listPage } from '../../../domain/platform/listing.js';
import type { Handlers } from '../../handlers.js';
import { fromAlgorithm, fromGrant, fromType, toMessage } from './application-messages.js';
import { type OperatorDependencies, writing } from './write.js';

export function applicationHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    ...writing(operator, {
      createApplication: async (changes, request) => {
        const { application, clientSecret } = await createApplication(changes, operator.environment, {
          ...request,
          type: fromType(request.type),
          allowedGrantTypes: request.allowedGrantTypes.map(fromGrant),
          idTokenAlgorithm: fromAlgorithm(request.idTokenAlgorithm),
        });
        return { application: toMessage(application), clientSecret };
      },
      updateApplication: async (changes, request) => ({
        application: toMessage(
          await updateApplication(
            changes,
            {
              ...request,
              allowedGrantTypes: request.allowedGrantTypes.map(fromGrant),
              idTokenAlgorithm: fromAlgorithm(request.idTokenAlgorithm),
            },
            operator.environment,
          ),
        ),
      }),
      disableApplication: async (changes, { applicationId }) => ({
        application: toMessage(await setApplicationEnabled(changes, applicationId, false)),
      }),
      enableApplication: async (changes, { applicationId }) => ({
        application: toMessage(await setApplicationEnabled(changes, applicationId, true)),
      }),
    }),
    listApplications: async ({ instanceId, ...listing }) => {
      const { applications } = operator.unitOfWork.rows;
      const { rows, nextPageToken } = await listPage(listing, (page) => applications.page(page, instanceId));
      return { applications: rows.map(toMessage), nextPageToken };
    },
    getApplication: async ({ applicationId }) => ({
      application: toMessage(await getApplication(operator.unitOfWork.rows, applicationId)),
    }),
  };
}
