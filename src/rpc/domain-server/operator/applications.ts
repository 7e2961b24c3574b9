import {
  ApplicationStatus,
  ApplicationType,
  GrantType,
} from '../../../../generated/proto/integration/operator/v1/applications.js';
import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  addRedirectUri,
  createApplication,
  getApplication,
  removeRedirectUri,
  revokeSecret,
  rotateSecret,
  setApplicationEnabled,
  updateApplication,
} from '../../../domain/operator/applications.js';
import type { Application } from '../../../domain/operator/rows/applications.js';
import { listPage } from '../../../domain/platform/listing.js';
import type { Handlers } from '../../handlers.js';
import { assertKnown, fromEnum, words } from '../fields.js';
import { ALGORITHMS, fromAlgorithm } from './signing-keys.js';
import { type OperatorDependencies, writing } from './write.js';

const TYPES = words(ApplicationType);
const GRANTS = words(GrantType);

const fromType = fromEnum(TYPES);
const fromGrant = fromEnum(GRANTS);

const NO_REDIRECT_URI = { uri: '', instanceId: '' };

export function applicationHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    ...writing(operator, {
      createApplication: async (changes, request) => {
        const { application, clientSecret } = await createApplication(changes, operator.environment, {
          ...request,
          type: fromType(request.type),
          allowedGrantTypes: request.allowedGrantTypes.map(fromGrant),
          idTokenAlgorithm: algorithmOf(request.idTokenAlgorithm),
        });
        return { application: toMessage(application), clientSecret };
      },
      updateApplication: (changes, request) => {
        const update = {
          ...request,
          allowedGrantTypes: request.allowedGrantTypes.map(fromGrant),
          idTokenAlgorithm: algorithmOf(request.idTokenAlgorithm),
        };
        return answerOf(updateApplication(changes, update, operator.environment));
      },
      disableApplication: (changes, { applicationId }) =>
        answerOf(setApplicationEnabled(changes, applicationId, false)),
      enableApplication: (changes, { applicationId }) =>
        answerOf(setApplicationEnabled(changes, applicationId, true)),
      addRedirectUri: (changes, { applicationId, redirectUri = NO_REDIRECT_URI }) =>
        answerOf(addRedirectUri(changes, applicationId, redirectUri)),
      removeRedirectUri: (changes, request) => answerOf(removeRedirectUri(changes, request)),
      rotateApplicationSecret: async (changes, request) => {
        const { application, clientSecret } = await rotateSecret(changes, operator.environment, request);
        return { application: toMessage(application), clientSecret };
      },
      revokeApplicationSecret: (changes, request) => answerOf(revokeSecret(changes, request)),
    }),
    listApplications: async ({ instanceId, ...listing }) => {
      const { applications } = operator.unitOfWork.rows;
      const { rows, nextPageToken } = await listPage(listing, (page) => applications.page(page, instanceId));
      return { applications: rows.map(toMessage), nextPageToken };
    },
    getApplication: async ({ applicationId }) =>
      answerOf(getApplication(operator.unitOfWork.rows, applicationId)),
  };
}

/** One that only a newer release knows must not become the default, as an omitted one does. */
function algorithmOf(value: Parameters<typeof fromAlgorithm>[0]) {
  assertKnown(value ?? '', 'id_token_algorithm');
  return fromAlgorithm(value);
}

async function answerOf(application: Promise<Application>) {
  return { application: toMessage(await application) };
}

function toMessage(application: Application) {
  return {
    ...application,
    type: TYPES[application.type],
    status: application.enabled ? ApplicationStatus.ENABLED : ApplicationStatus.DISABLED,
    allowedGrantTypes: application.allowedGrantTypes.map((grant) => GRANTS[grant]),
    idTokenAlgorithm: ALGORITHMS[application.idTokenAlgorithm],
  };
}
