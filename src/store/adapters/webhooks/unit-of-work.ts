import type { Clock } from '../../../domain/clock.js';
import type { SubscriptionDeliveryRows } from '../../../domain/webhooks/subscription-deliveries.js';
import type { WebhookRows, WebhookUnitOfWork } from '../../../domain/webhooks/unit-of-work.js';
import type { Database, Writer } from '../../database.js';
import { keptRows } from '../kept-rows.js';
import { recordAction } from '../operator/audit-events.js';
import { connectionRows } from '../operator/connections.js';
import { clientRows } from '../platform/clients.js';
import { lock } from '../platform/unit-of-work.js';
import { tellingWrite } from '../telling-write.js';
import { deliveryLogRows } from './delivery-log.js';
import { eventLogRows } from './event-log.js';
import { subscriptionDeliveryRows } from './subscription-deliveries.js';
import { subscriptionRows } from './subscriptions.js';

export interface WebhookUnitOfWorkOptions {
  clock?: Clock;
  /** Hears of inserted deliveries as soon as a write would find them. */
  onNewDeliveries?: () => void;
}

export function webhookUnitOfWork(
  { reader, write }: Database,
  { clock = Date.now, onNewDeliveries = () => undefined }: WebhookUnitOfWorkOptions = {},
): WebhookUnitOfWork {
  return {
    rows: rowsOf(reader),
    run: (actor, work, origin) =>
      tellingWrite(
        write,
        onNewDeliveries,
        (writer, noteNew) => {
          const now = clock();
          const rows = rowsOf(writer);
          return work({
            ...rows,
            deliveries: watched(rows.deliveries, noteNew),
            now,
            lock: (...subjectIds) => lock(writer, subjectIds),
            record: (action) => recordAction(writer, now, actor, action),
          });
        },
        origin,
      ),
  };
}

function watched(rows: SubscriptionDeliveryRows, onInsert: () => void): SubscriptionDeliveryRows {
  return {
    ...rows,
    insert: (deliveries) => {
      onInsert();
      return rows.insert(deliveries);
    },
  };
}

const rowsOf = keptRows(
  (database: Writer): WebhookRows => ({
    connections: connectionRows(database),
    clients: clientRows(database),
    subscriptions: subscriptionRows(database),
    deliveries: subscriptionDeliveryRows(database),
    deliveryLog: deliveryLogRows(database),
    eventLog: eventLogRows(database),
  }),
);
