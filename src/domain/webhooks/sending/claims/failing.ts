import type { SubscriptionId } from '../../../../../generated/ids.js';
import type { Receiver, SendingChanges } from '../sending.js';
import type { Share } from './shares.js';

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
