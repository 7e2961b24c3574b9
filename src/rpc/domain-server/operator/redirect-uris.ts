import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import { addRedirectUri, removeRedirectUri } from '../../../domain/operator/redirect-uris.js';
import type { Handlers } from '../../handlers.js';
import { toMessage } from './application-messages.js';
import { type OperatorDependencies, writing } from './write.js';

const NONE = { uri: '', instanceId: '' };

export function redirectUriHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    ...writing(operator, {
      addRedirectUri: async (changes, { applicationId, redirectUri = NONE }) => ({
        application: toMessage(await addRedirectUri(changes, applicationId, redirectUri)),
      }),
      removeRedirectUri: async (changes, request) => ({
        application: toMessage(await removeRedirectUri(changes, request)),
      }),
    }),
  };
}
