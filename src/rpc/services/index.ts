import { OperatorServiceService } from '../../../generated/proto/integration/operator/v1/operator.js';
import { PlatformServiceService } from '../../../generated/proto/integration/platform/v1/platform.js';
import { SignOnServiceService } from '../../../generated/proto/integration/sign_on/v1/sign_on.js';
import { DeliveryServiceService } from '../../../generated/proto/integration/webhooks/v1/sending.js';
import { WebhookServiceService } from '../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { type ServedService, serve } from '../handlers.js';
import { type DirectoryDependencies, directoryService } from './directory.js';
import { type MaintenanceDependencies, maintenanceService } from './maintenance.js';

export interface ServiceDependencies {
  directory: DirectoryDependencies;
  maintenance: MaintenanceDependencies;
}

/** Every service of the contract, with who may call it. Methods without a handler answer that they are not implemented. */
export function allServices({ directory, maintenance }: ServiceDependencies): ServedService[] {
  return [
    directoryService(directory),
    maintenanceService(maintenance),
    serve(SignOnServiceService, ['service'], {}),
    serve(DeliveryServiceService, ['service'], {}),
    serve(WebhookServiceService, ['operator'], {}),
    serve(OperatorServiceService, ['operator'], {}),
    serve(PlatformServiceService, ['platform', 'operator'], {}),
  ];
}
