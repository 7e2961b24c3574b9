import type { OperatorRows, OperatorUnitOfWork } from '../../../domain/operator/unit-of-work.js';
import { type Database, keptRows, type Writer } from '../../database.js';
import { clientRows, instanceRows } from '../platform/organization.js';
import { type DueListener, unitOfWorkOver } from '../unit-of-work.js';
import { deliveryLogRows } from '../webhooks/logs/deliveries.js';
import { eventLogRows } from '../webhooks/logs/events.js';
import { subscriptionDeliveryRows } from '../webhooks/subscriptions/deliveries.js';
import { subscriptionRows } from '../webhooks/subscriptions/rows.js';
import { applicationRows } from './applications.js';
import { auditRows } from './audit-events.js';
import { encryptionKeyRows } from './encryption-keys.js';
import { instanceIntegrationRows, integrationRows } from './integrations.js';
import { apiKeyRows, serviceTokenRows } from './keys.js';

/** `due` as for every unit of work: here it hears of inserted deliveries. */
export function operatorUnitOfWork(database: Database, due?: DueListener): OperatorUnitOfWork {
  return unitOfWorkOver(
    database,
    rowsOf,
    (writer, common, noteDue) => ({
      ...common,
      ...rowsOf(writer),
      deliveries: subscriptionDeliveryRows(writer, noteDue),
    }),
    due,
  );
}

const rowsOf = keptRows(
  (database: Writer): OperatorRows => ({
    instances: instanceRows(database),
    clients: clientRows(database),
    integrations: integrationRows(database),
    instanceIntegrations: instanceIntegrationRows(database),
    apiKeys: apiKeyRows(database),
    serviceTokens: serviceTokenRows(database),
    applications: applicationRows(database),
    auditEvents: auditRows(database),
    encryptionKeys: encryptionKeyRows(database),
    subscriptions: subscriptionRows(database),
    deliveries: subscriptionDeliveryRows(database),
    deliveryLog: deliveryLogRows(database),
    eventLog: eventLogRows(database),
  }),
);
