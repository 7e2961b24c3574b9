import type { TokenIssuer } from '../../domain/sign-on/token-issuer.js';
import type { ServedService } from '../handlers.js';
import { type DirectoryDependencies, directoryService } from './directory.js';
import { type MaintenanceDependencies, maintenanceService } from './maintenance.js';
import { type OperatorDependencies, operatorService } from './operator/index.js';
import { type PlatformDependencies, platformService } from './platform/index.js';
import { signOnService } from './sign-on/index.js';
import { type DeliveryDependencies, deliveryService } from './webhooks/delivery-service.js';
import { type WebhookDependencies, webhookService } from './webhooks/index.js';

export interface ServiceDependencies {
  directory: DirectoryDependencies;
  maintenance: MaintenanceDependencies;
  platform: PlatformDependencies;
  operator: OperatorDependencies;
  signOn: TokenIssuer;
  webhooks: WebhookDependencies;
  deliveries: DeliveryDependencies;
}

/** Every service of the contract. */
export function allServices({
  directory,
  maintenance,
  platform,
  operator,
  signOn,
  webhooks,
  deliveries,
}: ServiceDependencies): ServedService[] {
  return [
    directoryService(directory),
    maintenanceService(maintenance),
    signOnService(signOn),
    deliveryService(deliveries),
    webhookService(webhooks),
    operatorService(operator),
    platformService(platform),
  ];
}
