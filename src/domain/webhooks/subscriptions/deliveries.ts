import type { EventId, SubscriptionId } from '../../../../generated/ids.js';
import { newNeighbouringId } from '../../../identifiers/public-id.js';
import { type Delivery, type DeliveryOrigin, UNTRIED } from '../deliveries.js';
import type { StoredEvent } from '../event-body.js';
import type { Subscription } from './subscription.js';

/** How far a subscription is behind. */
export interface Backlog {
  pending: number;
  held: number;
}

/** An inactive subscription with deliveries that must not be open. */
export interface ClosedSubscription {
  id: SubscriptionId;
  isDeleted: boolean;
}

/** How many deliveries one write holds or cancels, so that others get their turns. */
export const MOST_CLOSED_AT_ONCE = 500;

export interface SubscriptionDeliveryRows {
  backlogOf(id: SubscriptionId): Promise<Backlog>;
  /** When the first event with a held delivery happened. */
  heldSince(id: SubscriptionId): Promise<number | null>;
  /** All at once. */
  insert(deliveries: readonly Delivery[]): Promise<void>;
  /** Writes a test event. */
  insertTestEvent(event: StoredEvent): Promise<void>;
  /** Holds pending deliveries, up to `most`. A running attempt continues, and its success counts. */
  holdPending(id: SubscriptionId, most: number): Promise<number>;
  /** Cancels pending and held deliveries, up to `most`. */
  cancelOpen(id: SubscriptionId, now: number, most: number): Promise<number>;
  /** Disabled subscriptions with pending deliveries, and deleted ones with open ones. */
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
