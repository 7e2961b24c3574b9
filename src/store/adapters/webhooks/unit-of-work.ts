import type { WebhookRows, WebhookUnitOfWork } from '../../../domain/webhooks/unit-of-work.js';
import { keptRows } from '../../camel-case.js';
import type { Database, Writer } from '../../database.js';
import { instanceIntegrationRows } from '../operator/integrations.js';
import { clientRows } from '../platform/organization.js';
import { type DueListener, unitOfWorkOver } from '../unit-of-work.js';
import { deliveryLogRows } from './logs/deliveries.js';
import { eventLogRows } from './logs/events.js';
import { subscriptionDeliveryRows } from './subscriptions/deliveries.js';
import { subscriptionRows } from './subscriptions/rows.js';

/** `due` as for every unit of work: here it hears of inserted deliveries. */
export function webhookUnitOfWork(database: Database, due?: DueListener): WebhookUnitOfWork {
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
  (database: Writer): WebhookRows => ({
    instanceIntegrations: instanceIntegrationRows(database),
    clients: clientRows(database),
    subscriptions: subscriptionRows(database),
    deliveries: subscriptionDeliveryRows(database),
    deliveryLog: deliveryLogRows(database),
    eventLog: eventLogRows(database),
  }),
);
