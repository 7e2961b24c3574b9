import type { Actor } from '../operator/audit.js';
import { type ClosedSubscription, MOST_CLOSED_AT_ONCE } from './subscription-deliveries.js';
import type { WebhookChanges, WebhookRows } from './unit-of-work.js';

type ClosingChanges = Pick<WebhookChanges, 'now' | 'subscriptions' | 'deliveries'>;

export interface ClosingUnitOfWork {
  run<T>(actor: Actor, work: (changes: ClosingChanges) => Promise<T>): Promise<T>;
}

/** Nobody is asked who did it: what follows from a change of status belongs to that change. */
const SERVICE: Actor = { type: 'service', id: 'webhooks' };
const MOST_LOOKED_AT = 100;

/**
 * Holds or cancels what is left open of a subscription that was disabled or deleted. Its status alone says that nothing is sent, so this may end between any
 * two writes and be taken up again, by anyone.
 */
export async function closeRest(
  unitOfWork: ClosingUnitOfWork,
  closed: ClosedSubscription,
  signal?: AbortSignal,
): Promise<number> {
  let sum = 0;
  for (let more = true; more && !signal?.aborted; ) {
    const count = await unitOfWork.run(SERVICE, (changes) => closeSome(changes, closed));
    sum += count;
    more = count === MOST_CLOSED_AT_ONCE;
  }
  return sum;
}

/** Does so for every subscription that needs it. */
export async function closeAll(
  unitOfWork: ClosingUnitOfWork & { rows: Pick<WebhookRows, 'deliveries'> },
  signal: AbortSignal,
): Promise<number> {
  let sum = 0;
  for (const closed of await unitOfWork.rows.deliveries.leftOpen(MOST_LOOKED_AT)) {
    sum += await closeRest(unitOfWork, closed, signal);
  }
  return sum;
}

async function closeSome(
  { now, subscriptions, deliveries }: ClosingChanges,
  { id, isDeleted }: ClosedSubscription,
): Promise<number> {
  if (isDeleted) {
    return deliveries.cancelOpen(id, now, MOST_CLOSED_AT_ONCE);
  }
  const present = await subscriptions.findLocked(id);
  // Enabled or deleted meanwhile, it is no longer what was seen.
  return present?.status === 'DISABLED' ? deliveries.holdPending(id, MOST_CLOSED_AT_ONCE) : 0;
}
