import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import { revokeSecret, rotateSecret } from '../../../domain/operator/secret-rotation.js';
import type { Handlers } from '../../handlers.js';
import { toMessage } from './application-messages.js';
import { type OperatorDependencies, writing } from './write.js';

export function secretHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    ...writing(operator, {
      rotateApplicationSecret: async (changes, request) => {
        const { application, clientSecret } = await rotateSecret(changes, operator.environment, request);
        return { application: toMessage(application), clientSecret };
      },
      revokeApplicationSecret: async (changes, request) => ({
        application: toMessage(await revokeSecret(changes, request)),
      }),
    }),
  };
}
