import type { Actor, RecordedAction } from '../operator/audit.js';
import type { ConnectionRows } from '../operator/connections.js';
import type { Client } from '../platform/clients.js';
import type { WriteOrigin } from '../platform/unit-of-work.js';
import type { DeliveryLogRows } from './delivery-log.js';
import type { EventLogRows } from './event-log.js';
import type { SubscriptionDeliveryRows } from './subscription-deliveries.js';
import type { SubscriptionRows } from './subscription-rows.js';

/** Everything that operators may look at. */
export interface WebhookRows {
  readonly connections: ConnectionRows;
  readonly clients: { find(id: string): Promise<Client | undefined> };
  readonly subscriptions: SubscriptionRows;
  /** What becomes of the deliveries of one subscription. */
  readonly deliveries: SubscriptionDeliveryRows;
  readonly deliveryLog: DeliveryLogRows;
  readonly eventLog: EventLogRows;
}

/** Everything that one write may touch, inside its one transaction. */
export interface WebhookChanges extends WebhookRows {
  /** The time of the write: its rows and its audit event all carry it. */
  readonly now: number;
  /** As in `../operator/unit-of-work.ts`. A subscription is locked by its own row: `subscriptions.findLocked`. */
  lock(...subjectIds: string[]): Promise<void>;
  /** Writes the audit event of the change, in the name of whoever makes it. */
  record(action: RecordedAction): Promise<void>;
}

export interface WebhookUnitOfWork {
  /** One transaction: all of the work or none. Nothing but the changes may be awaited inside. Whoever waits for new deliveries hears of those inserted. */
  run<T>(actor: Actor, work: (changes: WebhookChanges) => Promise<T>, origin?: WriteOrigin): Promise<T>;
  /** What is committed, without a transaction. */
  readonly rows: WebhookRows;
}
