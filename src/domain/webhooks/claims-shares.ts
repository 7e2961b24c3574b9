import type { DeliveryId, EventId, InstanceIntegrationId } from '../../../generated/ids.js';
import { eventBody, type StoredEvent } from './event-body.js';
import type { BegunDelivery, Receiver, SendingChanges, SentEvent } from './sending.js';
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
  /** The places of those that are due, in the order of all. */
  due: number[];
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
        const more = await changes.due(share.receiver.id, share.due.at(-1) ?? 0, part);
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

/** What one claim may hold of bodies, well below what an answer may be long; one delivery always fits. */
const MOST_BODY_BYTES = 8 * 1_024 * 1_024;

/** The claim, and those deliveries that do not fit into it any more. */
export function together(
  shares: readonly Share[],
  begun: readonly BegunDelivery[],
  events: readonly SentEvent[],
  leaseUntil: number,
): { claim: Claim; unfitting: number[] } {
  const begunBySeq = new Map(begun.map((delivery) => [delivery.seq, delivery]));
  const eventsBySeq = new Map(events.map((event) => [event.seq, event]));
  const claim: Claim = { leaseUntil, deliveries: [], targets: [], bodies: [] };
  const unfitting: number[] = [];
  const bodies = new SharedBodies(claim.bodies);
  for (const { receiver, target, due } of shares) {
    for (const seq of due) {
      const delivery = begunBySeq.get(seq);
      const event = delivery && eventsBySeq.get(delivery.eventSeq);
      const body = event && unfitting.length === 0 ? bodies.indexOf(event, receiver) : undefined;
      if (delivery && body !== undefined) {
        if (claim.targets.at(-1) !== target) {
          claim.targets.push(target);
        }
        claim.deliveries.push({ id: delivery.id, target: claim.targets.length - 1, body });
      } else if (event) {
        unfitting.push(seq);
      }
    }
  }
  return { claim, unfitting };
}

/** One body for all who receive an event for the same instance integration. */
class SharedBodies {
  readonly #indexes = new Map<InstanceIntegrationId, Map<EventId, number>>();
  #bytes = 0;

  constructor(private readonly bodies: DeliveryBody[]) {}

  /** Undefined if there is no room for it. */
  indexOf(event: StoredEvent, receiver: Receiver): number | undefined {
    const indexes = this.#indexes.get(receiver.instanceIntegrationId) ?? new Map<EventId, number>();
    this.#indexes.set(receiver.instanceIntegrationId, indexes);
    const present = indexes.get(event.id);
    if (present !== undefined) {
      return present;
    }
    const made = bodyOf(event, receiver);
    if (this.#bytes > 0 && this.#bytes + made.body.length > MOST_BODY_BYTES) {
      return undefined;
    }
    this.#bytes += made.body.length;
    const index = this.bodies.push(made) - 1;
    indexes.set(event.id, index);
    return index;
  }
}

export function bodyOf(event: StoredEvent, receiver: Receiver): DeliveryBody {
  const body = Buffer.from(eventBody(event, receiver.instanceIntegrationId));
  return { eventId: event.id, eventType: event.type, body };
}
