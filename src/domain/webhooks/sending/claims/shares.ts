import type { InstanceIntegrationId, SubscriptionId } from '../../../../../generated/ids.js';
import { OwnerSlots } from '../../../../fairness/owner-slots.js';
import type { Receiver, SendingChanges } from '../sending.js';
import type { ClaimRequest, DeliveryTarget } from './claim.js';

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
  /** Numbers (`seq`) of due first attempts, found together with the lock of the subscription. */
  stock: number[];
  /** Whether there may be more than those. */
  hasMore: boolean;
}

/**
 * The last slots, of which an instance integration gets another only while it has fewer than are free. If one
 * could take all slots, its slow receivers would delay the events of all others.
 */
const PART_KEPT = 1 / 8;

/** Which slots a claim has: only last ones, or others too. */
export type SlotKind = 'open' | 'last';

type SlotCounts = Pick<ClaimRequest, 'freeSlots' | 'totalSlots'>;

export interface Distribution {
  slots: SlotKind;
  left: number;
  /** Whether more may be due than got slots. */
  isShort: boolean;
  /** Those that got slots; if the claim also has open slots (`SlotKind`), those that got open ones. */
  reached: readonly Share[];
}

export function slotKindOf(counts: SlotCounts): SlotKind {
  return counts.freeSlots > keptOf(counts) ? 'open' : 'last';
}

function keptOf({ freeSlots, totalSlots }: SlotCounts): number {
  return Math.min(freeSlots, Math.floor(totalSlots * PART_KEPT));
}

/** Distributes slots equally, in rounds: those that some do not need go to others. */
export async function shareOut(
  changes: SendingChanges,
  shares: readonly Share[],
  counts: SlotCounts,
): Promise<Distribution> {
  const kept = keptOf(counts);
  const slots = slotKindOf(counts);
  const open = new OwnerSlots({ inTotal: counts.freeSlots - kept, kept: 0 });
  // An integration that gets only a few slots gives them to other subscriptions each time.
  const byNeed = shares.toSorted((one, other) => one.receiver.running - other.receiver.running);
  const hungry = await inRounds(changes, byNeed, open);
  const reached = served(shares);
  const held = new Map<InstanceIntegrationId, number>();
  for (const share of shares) {
    const id = ownerOf(share);
    held.set(id, (held.get(id) ?? open.heldBy(id)) + share.receiver.running);
  }
  // If the attempts known here rule out that they get last slots, those of other subscriptions need no count.
  const asked = [...new Set(hungry.map(ownerOf))].filter((id) => (held.get(id) ?? 0) < kept);
  if (asked.length === 0) {
    return { slots, left: open.free + kept, isShort: hungry.length > 0, reached };
  }
  for (const [id, running] of await changes.runningOf(asked)) {
    held.set(id, running + open.heldBy(id));
  }
  const last = new OwnerSlots({ inTotal: kept, held });
  const unserved = await inRounds(changes, hungry, last);
  const left = last.free;
  return { slots, left, isShort: unserved.length > 0, reached: slots === 'open' ? reached : served(shares) };
}

function served(shares: readonly Share[]): readonly Share[] {
  return shares.filter(({ first, later }) => first.length + later.length > 0);
}

/** Returns those for which more may be due. */
async function inRounds(
  changes: SendingChanges,
  shares: readonly Share[],
  slots: OwnerSlots,
): Promise<readonly Share[]> {
  let hungry = shares.filter((share) => wantedBy(share) > 0);
  for (let isOver = false; !isOver && hungry.length > 0; ) {
    const parts = partsOf(hungry, slots);
    await takeDue(changes, parts);
    for (const { share, part, open } of parts) {
      share.room -= part - open;
      for (let index = 0; index < open; index += 1) {
        slots.give(ownerOf(share));
      }
    }
    isOver = parts.every(({ part }) => part === 0);
    hungry = parts.filter(({ share, open }) => open === 0 && wantedBy(share) > 0).map(({ share }) => share);
  }
  return hungry;
}

interface Part {
  share: Share;
  part: number;
  /** How much of it is not taken. */
  open: number;
}

/** The parts of one round. A share whose part is 0 waits for slots that other shares leave. */
function partsOf(hungry: readonly Share[], slots: OwnerSlots): Part[] {
  const parts = hungry.map((share) => ({ share, wanted: wantedBy(share), part: 0, open: 0 }));
  let growing = parts;
  while (growing.length > 0) {
    growing = growing.filter(({ share, wanted, part }) => part < wanted && slots.take(ownerOf(share)));
    for (const one of growing) {
      one.part += 1;
      one.open += 1;
    }
  }
  return parts;
}

/** How many more slots it may want and have. */
export function wantedBy({ room, stock, hasMore, hasLater }: Share): number {
  return hasMore || hasLater ? room : Math.min(room, stock.length);
}

function ownerOf({ receiver }: Share): InstanceIntegrationId {
  return receiver.instanceIntegrationId;
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

/** Enough attempts to notice that a failing subscriber has recovered. */
const LEAST_RUNNING_WHILE_FAILING = 4;
/** The share of all slots for failing subscriptions: ample for fast failures, safe for hanging ones. */
const PART_FOR_FAILING = 1 / 8;
/** Beyond that share, each may have one attempt in progress, up to this part of all slots. */
const MOST_FOR_FAILING = 1 / 2;

/**
 * There may be too few slots for all failing subscriptions: those that wait for one come first, and others
 * only after all of these (`mayPass`). Returns those that could use a slot and get none.
 */
export async function limitFailing(
  changes: SendingChanges,
  shares: readonly Share[],
  totalSlots: number,
  mayPass: (id: SubscriptionId) => boolean,
): Promise<ReadonlySet<SubscriptionId>> {
  const denied = new Set<SubscriptionId>();
  const failing = shares.filter(isFailing);
  if (failing.length === 0) {
    return denied;
  }
  const running = await changes.runningToFailing();
  let spare = totalSlots * PART_FOR_FAILING - running;
  let left = Math.ceil(totalSlots * MOST_FOR_FAILING) - running;
  for (const [index, share] of failing.entries()) {
    const { id } = share.receiver;
    const room = roomWhileFailing(share.receiver, spare / (failing.length - index));
    const allowed = mayPass(id) ? Math.min(left, room) : 0;
    if (share.room > 0 && room > 0 && allowed <= 0) {
      denied.add(id);
    }
    share.room = Math.max(0, Math.min(share.room, allowed));
    spare -= share.room;
    left -= share.room;
  }
  return denied;
}

export function isFailing({ receiver }: Share): boolean {
  return receiver.failingSince !== null;
}

/** How many more attempts a failing one may have. */
function roomWhileFailing({ running }: Receiver, spareForEach: number): number {
  if (spareForEach <= 0) {
    return running === 0 ? 1 : 0;
  }
  return Math.max(LEAST_RUNNING_WHILE_FAILING - running, Math.floor(spareForEach));
}
