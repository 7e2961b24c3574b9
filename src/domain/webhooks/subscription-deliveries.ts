import type { EventId, SubscriptionId } from '../../../generated/ids.js';
import { newNeighbouringId } from '../../identifiers/public-id.js';
import { type Delivery, type DeliveryOrigin, UNTRIED } from './deliveries.js';
import type { StoredEvent } from './event-body.js';
import type { Subscription } from './subscriptions.js';

/** How much a subscription is behind. */
export interface Backlog {
  pending: number;
  held: number;
}

/** One that is active no more, and of which something is open that must not be. */
export interface ClosedSubscription {
  id: SubscriptionId;
  isDeleted: boolean;
}

/** How many deliveries one write holds or cancels: others want to write too. */
export const MOST_CLOSED_AT_ONCE = 500;

export interface SubscriptionDeliveryRows {
  backlogOf(id: SubscriptionId): Promise<Backlog>;
  /** When the first of the events happened whose deliveries are held. */
  heldSince(id: SubscriptionId): Promise<number | null>;
  /** All at once. */
  insert(deliveries: readonly Delivery[]): Promise<void>;
  /** Writes an event that happened to nobody. */
  insertTestEvent(event: StoredEvent): Promise<void>;
  /** Holds of what is pending so many at most. An attempt under way goes on, and its success still counts. */
  holdPending(id: SubscriptionId, most: number): Promise<number>;
  /** Cancels of what is pending or held so many at most. */
  cancelOpen(id: SubscriptionId, now: number, most: number): Promise<number>;
  /** Subscriptions that are disabled with something pending, or deleted with something open. */
  leftOpen(limit: number): Promise<ClosedSubscription[]>;
}

/** A delivery to an active subscription, due at once. */
export function newDelivery(
  { id, instanceIntegrationId }: Subscription,
  event: { id: EventId; type: string },
  origin: DeliveryOrigin,
  now: number,
): Delivery {
  return {
    id: newNeighbouringId('DeliveryId'),
    subscriptionId: id,
    instanceIntegrationId,
    eventId: event.id,
    eventType: event.type,
    origin,
    ...UNTRIED,
    createdAt: now,
  };
}
