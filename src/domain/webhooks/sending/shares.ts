import type { DeliveryId, EventId, InstanceIntegrationId } from '../../../../generated/ids.js';
import { eventBody, type StoredEvent } from '../event-body.js';
import type { BegunDelivery, Receiver, SendingChanges, SentEvent } from './sending.js';
import type { DeliveryTarget } from './targets.js';

/** The event to post and sign. */
export interface DeliveryBody {
  eventId: EventId;
  eventType: string;
  body: Buffer;
  /** The request id of the call that made the change. */
  requestId?: string;
  traceparent?: string;
}

/** Deliveries with a begun attempt; shared parts occur once. */
export interface Claim {
  leaseUntil: number;
  deliveries: {
    id: DeliveryId;
    number: number;
    target: number;
    body: number;
    /** When it began to wait for its first attempt; undefined for later attempts. */
    waitsSince?: number;
  }[];
  targets: DeliveryTarget[];
  bodies: DeliveryBody[];
}

/** One subscription's part of a claim. */
export interface Share {
  receiver: Receiver;
  target: DeliveryTarget;
  /** How many more attempts it may have. */
  room: number;
  /** Whether later attempts may be due that are not in `later` yet. */
  hasLater: boolean;
  /** The places of deliveries with a due later attempt, and of those with a due first one. */
  later: number[];
  first: number[];
  /** Places of due first attempts that were found with its lock. */
  stock: number[];
  /** Whether there may be more than those. */
  hasMore: boolean;
}

export const NOTHING: Claim = { leaseUntil: 0, deliveries: [], targets: [], bodies: [] };

/** Distributes slots equally in rounds; unused ones go to others. Returns the slots left. */
export async function shareOut(
  changes: SendingChanges,
  shares: readonly Share[],
  freeSlots: number,
): Promise<number> {
  let left = freeSlots;
  let hungry = shares.filter(({ room }) => room > 0);
  while (left > 0 && hungry.length > 0) {
    const parts = partsOf(hungry, left);
    await takeDue(changes, parts);
    for (const { share, part, open } of parts) {
      left -= part - open;
      share.room -= part - open;
    }
    hungry = parts.filter(({ share, open }) => open === 0 && share.room > 0).map(({ share }) => share);
  }
  return left;
}

interface Part {
  share: Share;
  part: number;
  /** How much of it is not taken. */
  open: number;
}

/** The parts of one round. A share whose part is 0 waits for slots that other shares leave. */
function partsOf(hungry: readonly Share[], slots: number): Part[] {
  let left = slots;
  return hungry.map((share, index) => {
    const part = Math.min(Math.ceil(left / (hungry.length - index)), share.room);
    left -= part;
    return { share, part, open: part };
  });
}

/** Later attempts first. Each first attempt is followed by two at most, so neither kind starves. */
async function takeDue(changes: SendingChanges, parts: readonly Part[]): Promise<void> {
  await Promise.all(parts.map((part) => takeLater(changes, part)));
  for (const part of parts) {
    takeFirst(part, part.share.stock.splice(0, part.open));
  }
  const hungry = parts.filter(({ share, open }) => open > 0 && share.hasMore);
  if (hungry.length > 0) {
    const wanted = hungry.map(({ share: { receiver, first }, open }) => ({
      id: receiver.id,
      after: first.at(-1) ?? 0,
      limit: open,
    }));
    const found = await changes.dueFirst(wanted);
    for (const part of hungry) {
      takeFirst(part, found.get(part.share.receiver.id) ?? []);
      part.share.hasMore = part.open === 0;
    }
  }
}

function takeFirst(part: Part, seqs: readonly number[]): void {
  part.share.first.push(...seqs);
  part.open -= seqs.length;
}

async function takeLater(changes: SendingChanges, part: Part): Promise<void> {
  const { share, open } = part;
  const { receiver, later } = share;
  if (!share.hasLater || open === 0) {
    return;
  }
  const found = await changes.dueLater(receiver.id, later.length + open);
  share.hasLater = found.length === later.length + open;
  // Rows that were locked at the first look may precede those that it found.
  const more = found.filter((seq) => !later.includes(seq)).slice(0, open);
  later.push(...more);
  part.open -= more.length;
}

/** The limit of bodies per claim, well below that of an answer; one delivery always fits. */
const MOST_BODY_BYTES = 8 * 1_024 * 1_024;

/** The claim, and the deliveries that do not fit. */
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
  for (const { receiver, target, later, first } of shares) {
    for (const seq of [...later, ...first]) {
      const delivery = begunBySeq.get(seq);
      const event = delivery && eventsBySeq.get(delivery.eventSeq);
      const body = event && unfitting.length === 0 ? bodies.indexOf(event, receiver) : undefined;
      if (delivery && body !== undefined) {
        if (claim.targets.at(-1) !== target) {
          claim.targets.push(target);
        }
        claim.deliveries.push({
          id: delivery.id,
          number: delivery.number,
          target: claim.targets.length - 1,
          body,
          ...(delivery.number === 1 && { waitsSince: Math.max(delivery.createdAt, receiver.updatedAt) }),
        });
      } else if (event) {
        unfitting.push(seq);
      }
    }
  }
  return { claim, unfitting };
}

/** One body for all receivers of an event with the same instance integration. */
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

function bodyOf(event: StoredEvent, receiver: Receiver): DeliveryBody {
  const body = Buffer.from(eventBody(event, receiver.instanceIntegrationId));
  const { id: eventId, type: eventType, requestId, traceparent } = event;
  return {
    eventId,
    eventType,
    body,
    requestId: requestId ?? undefined,
    traceparent: traceparent ?? undefined,
  };
}
