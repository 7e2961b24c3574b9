import { SignOnServiceService } from '../../../generated/proto/integration/sign_on/v1/sign_on.js';
import { DeliveryServiceService } from '../../../generated/proto/integration/webhooks/v1/sending.js';
import { WebhookServiceService } from '../../../generated/proto/integration/webhooks/v1/webhooks.js';
import type { UnitOfWork } from '../../domain/platform/unit-of-work.js';
import { type ServedService, serve } from '../handlers.js';
import { type DirectoryDependencies, directoryService } from './directory.js';
import { type MaintenanceDependencies, maintenanceService } from './maintenance.js';
import { type OperatorDependencies, operatorService } from './operator/index.js';
import { platformService } from './platform/index.js';

export interface ServiceDependencies {
  directory: DirectoryDependencies;
  maintenance: MaintenanceDependencies;
  platform: UnitOfWork;
  operator: OperatorDependencies;
}

/** Every service of the contract, with who may call it. Methods without a handler answer that they are not implemented. */
export function allServices({
  directory,
  maintenance,
  platform,
  operator,
}: ServiceDependencies): ServedService[] {
  return [
    directoryService(directory),
    maintenanceService(maintenance),
    serve(SignOnServiceService, ['service'], {}),
    serve(DeliveryServiceService, ['service'], {}),
    serve(WebhookServiceService, ['operator'], {}),
    operatorService(operator),
    platformService(platform),
  ];
}
