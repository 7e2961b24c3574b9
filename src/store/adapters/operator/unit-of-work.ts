import type { OperatorRows, OperatorUnitOfWork } from '../../../domain/operator/unit-of-work.js';
import type { Database, Writer } from '../../database.js';
import { instanceRows } from '../platform/organization.js';
import { unitOfWorkOver } from '../unit-of-work.js';
import { subscriptionDeliveryRows } from '../webhooks/subscriptions/deliveries.js';
import { subscriptionRows } from '../webhooks/subscriptions/rows.js';
import { applicationRows } from './applications.js';
import { auditRows } from './audit-events.js';
import { encryptionKeyRows } from './encryption-keys.js';
import { instanceIntegrationRows, integrationRows } from './integrations.js';
import { apiKeyRows, serviceTokenRows } from './keys.js';

export function operatorUnitOfWork(database: Database): OperatorUnitOfWork {
  return unitOfWorkOver(database, rowsOf, (writer, common) => ({
    ...common,
    ...rowsOf(writer),
    deliveries: subscriptionDeliveryRows(writer),
  }));
}

function rowsOf(database: Writer): OperatorRows {
  return {
    instances: instanceRows(database),
    integrations: integrationRows(database),
    instanceIntegrations: instanceIntegrationRows(database),
    apiKeys: apiKeyRows(database),
    serviceTokens: serviceTokenRows(database),
    applications: applicationRows(database),
    auditEvents: auditRows(database),
    encryptionKeys: encryptionKeyRows(database),
    subscriptions: subscriptionRows(database),
  };
}
