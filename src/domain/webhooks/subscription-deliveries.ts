import type { EventId, SubscriptionId } from '../../../generated/ids.js';
import { newOrderedPublicId } from '../../identifiers/public-id.js';
import { type Delivery, type DeliveryOrigin, UNTRIED } from './deliveries.js';
import type { StoredEvent } from './event-body.js';
import type { Subscription } from './subscriptions.js';

/** How much a subscription is behind. */
export interface Backlog {
  pending: number;
  held: number;
}

export interface SubscriptionDeliveryRows {
  backlogOf(id: SubscriptionId): Promise<Backlog>;
  /** When the first of the events happened whose deliveries are held. */
  heldSince(id: SubscriptionId): Promise<number | null>;
  /** All at once. */
  insert(deliveries: readonly Delivery[]): Promise<void>;
  /** Writes an event that happened to nobody. */
  insertTestEvent(event: StoredEvent): Promise<void>;
  /** Holds what is pending. An attempt under way goes on, and its success still counts. */
  holdPending(id: SubscriptionId): Promise<number>;
  /** Cancels what is pending or held. */
  cancelOpen(id: SubscriptionId, now: number): Promise<number>;
}

/** A delivery to an active subscription, due at once. */
export function newDelivery(
  { id, instanceIntegrationId }: Subscription,
  event: { id: EventId; type: string },
  origin: DeliveryOrigin,
  now: number,
): Delivery {
  return {
    id: newOrderedPublicId('DeliveryId', now),
    subscriptionId: id,
    instanceIntegrationId,
    eventId: event.id,
    eventType: event.type,
    origin,
    ...UNTRIED,
    createdAt: now,
  };
}
