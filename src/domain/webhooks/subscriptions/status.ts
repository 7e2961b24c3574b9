import type { SubscriptionId } from '../../../../generated/ids.js';
import type { OperatorChanges, OperatorRows } from '../../operator/unit-of-work.js';
import { auditChange, type UnitOfWork } from '../../unit-of-work.js';
import {
  assertConfigured,
  type ClosedSubscription,
  lockedSubscription,
  type ManagedSubscription,
  MOST_CLOSED_AT_ONCE,
  writeSubscription,
} from './rows.js';
import type { DisabledReason } from './subscription.js';

interface ChosenSubscription {
  subscriptionId: string;
  expectedVersion?: string;
}

/** What a change of status changes. */
export type StatusChanges = Pick<OperatorChanges, 'now' | 'subscriptions' | 'deliveries' | 'audit' | 'actor'>;

/** Missed events stay held until they are replayed. */
export async function enableSubscription(
  changes: StatusChanges & Pick<OperatorChanges, 'instanceIntegrations'>,
  { subscriptionId, expectedVersion }: ChosenSubscription,
): Promise<ManagedSubscription> {
  const present = await lockedSubscription(changes, subscriptionId, expectedVersion);
  if (present.status === 'ACTIVE') {
    return present;
  }
  await assertConfigured(changes, present);
  // Usually none: the caller holds the rest before, so that this write is short.
  await changes.deliveries.holdPending(present.id, Number.MAX_SAFE_INTEGER);
  return writeSubscription(changes, 'enabled', present, {
    status: 'ACTIVE',
    disabledReason: null,
    disabledAt: null,
    failingSince: null,
  });
}

/**
 * Stops sending. Holds as many pending deliveries as one write may; `closeRest` holds the rest, and those
 * that concurrent events still make.
 */
export async function disableSubscription(
  changes: StatusChanges,
  { subscriptionId, expectedVersion }: ChosenSubscription,
  reason: DisabledReason = 'OPERATOR',
  most = MOST_CLOSED_AT_ONCE,
): Promise<{ subscription: ManagedSubscription; held: number }> {
  // When its connection ends, the lock keeps out events too: links of later deliveries would not work.
  const isBesideEvents = reason === 'OPERATOR';
  const present = await lockedSubscription(changes, subscriptionId, expectedVersion, isBesideEvents);
  // A subscription that an operator disabled stays so when its connection is configured again.
  const isLasting = present.disabledReason !== 'UNCONFIGURED' || reason === 'UNCONFIGURED';
  if (present.status === 'DISABLED' && isLasting) {
    return { subscription: present, held: 0 };
  }
  const subscription = await writeSubscription(
    changes,
    'disabled',
    present,
    { status: 'DISABLED', disabledReason: reason, disabledAt: changes.now },
    { reason },
  );
  return { subscription, held: await changes.deliveries.holdPending(present.id, most) };
}

/** Keeps its deliveries for the log. Cancels as many open ones as one write may, `closeRest` the rest. */
export async function deleteSubscription(
  changes: StatusChanges,
  { subscriptionId, expectedVersion }: ChosenSubscription,
  most = MOST_CLOSED_AT_ONCE,
): Promise<number> {
  const present = await lockedSubscription(changes, subscriptionId, expectedVersion);
  await changes.subscriptions.delete(present.id, changes.now);
  const cancelled = await changes.deliveries.cancelOpen(present.id, changes.now, most);
  await auditChange(changes, 'subscription.deleted', present.id);
  return cancelled;
}

type Switch = UnitOfWork<
  ClosingChanges & StatusChanges & Pick<OperatorChanges, 'instanceIntegrations'>,
  Pick<OperatorRows, 'deliveries'>
>;

/** Enables a subscription in one short write, and says what it has missed. */
export async function switchOn(
  unitOfWork: Switch,
  chosen: ChosenSubscription,
): Promise<{ subscription: ManagedSubscription; held: number; heldSince: number | null }> {
  await closeRest(unitOfWork, { id: chosen.subscriptionId as SubscriptionId, isDeleted: false });
  const subscription = await unitOfWork.run((changes) => enableSubscription(changes, chosen));
  // Counted after the write, because other writes wait for it.
  const { deliveries } = unitOfWork.rows;
  const { held } = await deliveries.backlogOf(subscription.id);
  const heldSince = held === 0 ? null : await deliveries.heldSince(subscription.id);
  return { subscription, held, heldSince };
}

/** Disables a subscription, and says how many deliveries are held by that. */
export async function switchOff(
  unitOfWork: Switch,
  chosen: ChosenSubscription,
): Promise<{ subscription: ManagedSubscription; held: number }> {
  const { subscription, held } = await unitOfWork.run((changes) => disableSubscription(changes, chosen));
  if (held < MOST_CLOSED_AT_ONCE) {
    return { subscription, held };
  }
  // The rest is pending until `closeRest` holds it, and counts as held.
  const { pending } = await unitOfWork.rows.deliveries.backlogOf(subscription.id);
  return { subscription, held: held + pending };
}

/** Deletes a subscription, and says how many deliveries are cancelled by that. */
export async function remove(unitOfWork: Switch, chosen: ChosenSubscription): Promise<number> {
  const cancelled = await unitOfWork.run((changes) => deleteSubscription(changes, chosen));
  if (cancelled < MOST_CLOSED_AT_ONCE) {
    return cancelled;
  }
  const { pending, held } = await unitOfWork.rows.deliveries.backlogOf(
    chosen.subscriptionId as SubscriptionId,
  );
  return cancelled + pending + held;
}

export type ClosingChanges = Pick<OperatorChanges, 'now' | 'subscriptions' | 'deliveries'>;

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
  unitOfWork: UnitOfWork<ClosingChanges, Pick<OperatorRows, 'deliveries'>>,
  signal: AbortSignal,
): Promise<number> {
  let sum = 0;
  let failure: unknown;
  for (const closed of await unitOfWork.rows.deliveries.leftOpen(MOST_LOOKED_AT)) {
    try {
      sum += await closeRest(unitOfWork, closed, signal);
    } catch (error) {
      // For example of one whose delivery is locked: the others do not wait for it.
      failure ??= error;
    }
  }
  if (failure !== undefined) {
    throw failure;
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
  // Writes of many callers would keep it out otherwise.
  const present = await subscriptions.findLocked(id, true);
  // It was enabled or deleted meanwhile.
  return present?.status === 'DISABLED' ? deliveries.holdPending(id, MOST_CLOSED_AT_ONCE) : 0;
}
