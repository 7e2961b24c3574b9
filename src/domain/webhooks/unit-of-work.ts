import type { InstanceIntegrationRows } from '../operator/rows/integrations.js';
import type { Client } from '../platform/rows/organization.js';
import type { Attributed, CommonChanges, UnitOfWork } from '../unit-of-work.js';
import type { DeliveryLogRows } from './logs/deliveries.js';
import type { EventLogRows } from './logs/events.js';
import type { SubscriptionDeliveryRows, SubscriptionRows } from './subscriptions/rows.js';

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

/** All rows that one write may change. A subscription is locked by `subscriptions.findLocked`. */
export interface WebhookChanges extends WebhookRows, CommonChanges, Attributed {}

/** `inNameOf` sets the actor of its writes. Inserted deliveries wake waiting claims. */
export type WebhookUnitOfWork = UnitOfWork<Omit<WebhookChanges, 'actor'>, WebhookRows>;
