import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import { addRedirectUri, removeRedirectUri } from '../../../domain/operator/redirect-uris.js';
import type { Handlers } from '../../handlers.js';
import { toMessage } from './application-messages.js';
import { type OperatorDependencies, write } from './write.js';

const NONE = { uri: '', instanceId: '' };

export function redirectUriHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    addRedirectUri: ({ applicationId, redirectUri = NONE }, context) =>
      write(operator, context, async (changes) => ({
        application: toMessage(await addRedirectUri(changes, applicationId, redirectUri)),
      })),
    removeRedirectUri: (request, context) =>
      write(operator, context, async (changes) => ({
        application: toMessage(await removeRedirectUri(changes, request)),
      })),
  };
}
