import type { DeliveryId, EventId, InstanceIntegrationId } from '../../../generated/ids.js';
import { eventBody, type StoredEvent } from './event-body.js';
import type { Receiver, SendingChanges } from './sending.js';
import type { DeliveryTarget } from './sending-targets.js';

/** What to post, and to sign. */
export interface DeliveryBody {
  eventId: EventId;
  eventType: string;
  body: Buffer;
}

/** Deliveries whose first attempt has begun; what several of them share is there once. */
export interface Claim {
  leaseUntil: number;
  deliveries: { id: DeliveryId; target: number; body: number }[];
  targets: DeliveryTarget[];
  bodies: DeliveryBody[];
}

/** One subscription's part of a claim. */
export interface Share {
  receiver: Receiver;
  target: DeliveryTarget;
  /** How many more attempts may run to it. */
  room: number;
  due: DeliveryId[];
}

export const NOTHING: Claim = { leaseUntil: 0, deliveries: [], targets: [], bodies: [] };

/** In turns of equal parts: what one does not need or may not have is for the others. Answers how many slots are left. */
export async function shareOut(
  changes: SendingChanges,
  shares: readonly Share[],
  freeSlots: number,
): Promise<number> {
  let left = freeSlots;
  let hungry = shares.filter(({ room }) => room > 0);
  while (left > 0 && hungry.length > 0) {
    const stillHungry: Share[] = [];
    for (const [index, share] of hungry.entries()) {
      const part = Math.min(Math.ceil(left / (hungry.length - index)), share.room);
      if (part > 0) {
        const more = await changes.due(share.receiver.id, share.due.at(-1) ?? '', part);
        share.due.push(...more);
        share.room -= more.length;
        left -= more.length;
        stillHungry.push(...(more.length === part && share.room > 0 ? [share] : []));
      }
    }
    hungry = stillHungry;
  }
  return left;
}

export function together(
  shares: readonly Share[],
  eventOf: ReadonlyMap<DeliveryId, EventId>,
  events: readonly StoredEvent[],
  leaseUntil: number,
): Claim {
  const eventsById = new Map(events.map((event) => [event.id, event]));
  const claim: Claim = { leaseUntil, deliveries: [], targets: [], bodies: [] };
  const bodyIndexes = new Map<InstanceIntegrationId, Map<EventId, number>>();
  for (const { receiver, target, due } of shares) {
    const indexes = bodyIndexes.get(receiver.instanceIntegrationId) ?? new Map<EventId, number>();
    bodyIndexes.set(receiver.instanceIntegrationId, indexes);
    claim.targets.push(target);
    for (const id of due) {
      const event = eventsById.get(eventOf.get(id) as EventId);
      if (event) {
        const body = indexes.get(event.id) ?? claim.bodies.push(bodyOf(event, receiver)) - 1;
        indexes.set(event.id, body);
        claim.deliveries.push({ id, target: claim.targets.length - 1, body });
      }
    }
  }
  return claim;
}

export function bodyOf(event: StoredEvent, receiver: Receiver): DeliveryBody {
  const body = Buffer.from(eventBody(event, receiver.instanceIntegrationId));
  return { eventId: event.id, eventType: event.type, body };
}
