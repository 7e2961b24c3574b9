import type {
  DeliveryId,
  EventId,
  InstanceIntegrationId,
  SubscriptionId,
} from '../../../../../generated/ids.js';
import { eventBody, type StoredEvent } from '../../event-body.js';
import type { SecretBox } from '../../subscriptions/subscription.js';
import type { BegunDelivery, Receiver, SealedSecret, SentEvent } from '../sending.js';
import type { Share } from './shares.js';

export interface ClaimRequest {
  /** The limit of the claim. */
  freeSlots: number;
  /** Including those in use. */
  totalSlots: number;
  /** Over all workers. */
  maxRunningPerSubscription: number;
  maxWaitMs: number;
}

/** The event to post and sign. */
interface DeliveryBody {
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
    /** When it began to wait for its first attempt; undefined for later attempts and in replays. */
    waitsSince?: number;
  }[];
  targets: DeliveryTarget[];
  bodies: DeliveryBody[];
}

export const NOTHING: Claim = { leaseUntil: 0, deliveries: [], targets: [], bodies: [] };

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
          ...(isTimed(delivery) && { waitsSince: Math.max(delivery.createdAt, receiver.updatedAt) }),
        });
      } else if (event) {
        unfitting.push(seq);
      }
    }
  }
  return { claim, unfitting };
}

/** The deliveries of a replay are made together and take turns, so their waits say nothing of new events. */
function isTimed({ number, origin }: BegunDelivery): boolean {
  return number === 1 && origin !== 'REPLAY';
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

/** The address and the secrets. */
export interface DeliveryTarget {
  subscriptionId: SubscriptionId;
  url: string;
  /** Newest first. */
  signingSecrets: readonly Buffer[];
}

const MAX_KEPT = 10_000;

/** Opens the signing secrets, each once: opening costs as much as the rest of a claim for a subscription. */
export class DeliveryTargets {
  readonly #opened = new Map<string, Buffer>();

  constructor(private readonly box: SecretBox) {}

  /** Throws if there is no secret: nothing may be sent unsigned. */
  of({ id, url, secrets }: Receiver): DeliveryTarget {
    if (secrets.length === 0) {
      throw new Error(`The subscription ${id} has no secret to sign with.`);
    }
    return { subscriptionId: id, url, signingSecrets: secrets.map((secret) => this.#open(secret)) };
  }

  #open({ id, sealed }: SealedSecret): Buffer {
    const name = `${id} ${sealed}`;
    const present = this.#opened.get(name);
    if (present) {
      return present;
    }
    if (this.#opened.size >= MAX_KEPT) {
      this.#opened.clear();
    }
    const opened = Buffer.from(this.box.open(sealed, id));
    this.#opened.set(name, opened);
    return opened;
  }
}
