import { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import { serve } from '../../handlers.js';
import { apiKeyHandlers } from './api-keys.js';
import { applicationHandlers } from './applications.js';
import { auditHandlers } from './audit.js';
import { encryptionKeyHandlers } from './encryption-keys.js';
import { integrationHandlers } from './integrations.js';
import { serviceTokenHandlers } from './service-tokens.js';
import { signingKeyHandlers } from './signing-keys.js';
import type { OperatorDependencies } from './write.js';

export function operatorService(operator: OperatorDependencies) {
  return serve(OperatorServiceService, {
    ...applicationHandlers(operator),
    ...integrationHandlers(operator),
    ...apiKeyHandlers(operator),
    ...serviceTokenHandlers(operator),
    ...signingKeyHandlers(operator),
    ...encryptionKeyHandlers(operator),
    ...auditHandlers(operator),
  });
}
