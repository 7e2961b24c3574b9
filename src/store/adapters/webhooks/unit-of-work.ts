import type { Clock } from '../../../domain/clock.js';
import type { SubscriptionDeliveryRows } from '../../../domain/webhooks/subscription-deliveries.js';
import type { WebhookRows, WebhookUnitOfWork } from '../../../domain/webhooks/unit-of-work.js';
import type { Database, Writer } from '../../database.js';
import { afterCommit } from '../after-commit.js';
import { keptRows } from '../kept-rows.js';
import { recordAction } from '../operator/audit-events.js';
import { connectionRows } from '../operator/connections.js';
import { clientRows } from '../platform/clients.js';
import { lock } from '../platform/unit-of-work.js';
import { deliveryLogRows } from './delivery-log.js';
import { eventLogRows } from './event-log.js';
import { subscriptionDeliveryRows } from './subscription-deliveries.js';
import { subscriptionRows } from './subscriptions.js';

export interface WebhookUnitOfWorkOptions {
  clock?: Clock;
  /** Called after the commit of what inserted deliveries. */
  onNewDeliveries?: () => void;
}

export function webhookUnitOfWork(
  { reader, write }: Database,
  { clock = Date.now, onNewDeliveries = () => undefined }: WebhookUnitOfWorkOptions = {},
): WebhookUnitOfWork {
  return {
    rows: rowsOf(reader),
    run: (actor, work) =>
      afterCommit(onNewDeliveries, (noteNew) =>
        write((writer) => {
          const now = clock();
          const rows = rowsOf(writer);
          return work({
            ...rows,
            deliveries: watched(rows.deliveries, noteNew),
            now,
            lock: (...subjectIds) => lock(writer, subjectIds),
            record: (action) => recordAction(writer, now, actor, action),
          });
        }),
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
