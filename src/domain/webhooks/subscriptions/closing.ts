import type { UnitOfWork } from '../../unit-of-work.js';
import type { WebhookChanges, WebhookRows } from '../unit-of-work.js';
import { type ClosedSubscription, MOST_CLOSED_AT_ONCE } from './deliveries.js';

export type ClosingChanges = Pick<WebhookChanges, 'now' | 'subscriptions' | 'deliveries'>;

/** Nothing is audited: what follows from a change of status belongs to that change. */
type ClosingUnitOfWork = UnitOfWork<ClosingChanges, object>;

const MOST_LOOKED_AT = 100;

/**
 * Holds or cancels open deliveries of a disabled or deleted subscription. The status alone stops sending, so
 * this may stop between writes and be continued by any node.
 */
export async function closeRest(
  unitOfWork: ClosingUnitOfWork,
  closed: ClosedSubscription,
  signal?: AbortSignal,
): Promise<number> {
  let sum = 0;
  for (let more = true; more && !signal?.aborted; ) {
    const count = await unitOfWork.run((changes) => closeSome(changes, closed));
    sum += count;
    more = count === MOST_CLOSED_AT_ONCE;
  }
  return sum;
}

/** Does so for subscriptions that need it, up to a limit; the caller repeats it. */
export async function closeAll(
  unitOfWork: UnitOfWork<ClosingChanges, Pick<WebhookRows, 'deliveries'>>,
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
  // It was enabled or deleted meanwhile.
  return present?.status === 'DISABLED' ? deliveries.holdPending(id, MOST_CLOSED_AT_ONCE) : 0;
}
