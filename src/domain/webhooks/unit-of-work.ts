import type { Actor, AuditedAction } from '../operator/audit.js';
import type { InstanceIntegrationRows } from '../operator/rows/integrations.js';
import type { Client } from '../platform/rows/organization.js';
import type { Attributed, UnitOfWork } from '../unit-of-work.js';
import type { DeliveryLogRows } from './logs/deliveries.js';
import type { EventLogRows } from './logs/events.js';
import type { SubscriptionDeliveryRows } from './subscriptions/deliveries.js';
import type { SubscriptionRows } from './subscriptions/rows.js';

/** All rows that operators read. */
export interface WebhookRows {
  readonly instanceIntegrations: InstanceIntegrationRows;
  readonly clients: { find(id: string): Promise<Client | undefined> };
  readonly subscriptions: SubscriptionRows;
  /** The deliveries of one subscription. */
  readonly deliveries: SubscriptionDeliveryRows;
  readonly deliveryLog: DeliveryLogRows;
  readonly eventLog: EventLogRows;
}

/** All rows that one write may change, in its transaction. */
export interface WebhookChanges extends WebhookRows, Attributed {
  /** The time of the write, for its rows and its audit event. */
  readonly now: number;
  /** As in `../operator/unit-of-work.ts`. A subscription is locked by `subscriptions.findLocked`. */
  lock(...subjectIds: string[]): Promise<void>;
  /** Writes the audit event of the change. */
  audit(actor: Actor, action: AuditedAction): Promise<void>;
}

/** `inNameOf` sets the actor of its writes. Inserted deliveries wake waiting claims. */
export type WebhookUnitOfWork = UnitOfWork<Omit<WebhookChanges, 'actor'>, WebhookRows>;
