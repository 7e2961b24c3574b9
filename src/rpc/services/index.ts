import { DeliveryServiceService } from '../../../generated/proto/integration/webhooks/v1/sending.js';
import { WebhookServiceService } from '../../../generated/proto/integration/webhooks/v1/webhooks.js';
import type { TokenIssuer } from '../../domain/sign-on/token-issuer.js';
import { type ServedService, serve } from '../handlers.js';
import { type DirectoryDependencies, directoryService } from './directory.js';
import { type MaintenanceDependencies, maintenanceService } from './maintenance.js';
import { type OperatorDependencies, operatorService } from './operator/index.js';
import { type PlatformDependencies, platformService } from './platform/index.js';
import { signOnService } from './sign-on/index.js';

export interface ServiceDependencies {
  directory: DirectoryDependencies;
  maintenance: MaintenanceDependencies;
  platform: PlatformDependencies;
  operator: OperatorDependencies;
  signOn: TokenIssuer;
}

/** Every service of the contract, with who may call it. Methods without a handler answer that they are not implemented. */
export function allServices({
  directory,
  maintenance,
  platform,
  operator,
  signOn,
}: ServiceDependencies): ServedService[] {
  return [
    directoryService(directory),
    maintenanceService(maintenance),
    signOnService(signOn),
    serve(DeliveryServiceService, ['service'], {}),
    serve(WebhookServiceService, ['operator'], {}),
    operatorService(operator),
    platformService(platform),
  ];
}
