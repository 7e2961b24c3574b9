import { newVersion } from '../../version.js';
import type { WebhookChanges } from '../unit-of-work.js';
import { auditSubscription } from './audit.js';
import { MOST_CLOSED_AT_ONCE } from './deliveries.js';
import { assertConfigured } from './resend.js';
import { lockedSubscription, type ManagedSubscription } from './rows.js';
import type { DisabledReason, Subscription } from './subscription.js';

export interface ChosenSubscription {
  subscriptionId: string;
  expectedVersion?: string;
}

/** What a change of status changes. */
export type StatusChanges = Pick<WebhookChanges, 'now' | 'subscriptions' | 'deliveries' | 'audit' | 'actor'>;

/** Missed events stay held until they are replayed. */
export async function enableSubscription(
  changes: StatusChanges & Pick<WebhookChanges, 'instanceIntegrations'>,
  { subscriptionId, expectedVersion }: ChosenSubscription,
): Promise<ManagedSubscription> {
  const present = await lockedSubscription(changes, subscriptionId, expectedVersion);
  if (present.status === 'ACTIVE') {
    return present;
  }
  await assertConfigured(changes, present);
  // Usually none: the caller holds the rest before, so that this write is short.
  await changes.deliveries.holdPending(present.id, Number.MAX_SAFE_INTEGER);
  return writeStatus(changes, 'enabled', present, {
    status: 'ACTIVE',
    disabledReason: null,
    disabledAt: null,
    failingSince: null,
  });
}

/**
 * Stops sending. Holds as many pending deliveries as one write may; `closeRest` holds the rest. Concurrent
 * events see the subscription before or after it.
 */
export async function disableSubscription(
  changes: StatusChanges,
  { subscriptionId, expectedVersion }: ChosenSubscription,
  reason: DisabledReason = 'OPERATOR',
  most = MOST_CLOSED_AT_ONCE,
): Promise<{ subscription: ManagedSubscription; held: number }> {
  const present = await lockedSubscription(changes, subscriptionId, expectedVersion);
  // A subscription that an operator disabled stays so when its connection is configured again.
  const isLasting = present.disabledReason !== 'UNCONFIGURED' || reason === 'UNCONFIGURED';
  if (present.status === 'DISABLED' && isLasting) {
    return { subscription: present, held: 0 };
  }
  const subscription = await writeStatus(
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
  await auditSubscription(changes, 'deleted', present);
  return cancelled;
}

async function writeStatus(
  changes: StatusChanges,
  what: string,
  present: ManagedSubscription,
  fields: Partial<Subscription>,
  attributes?: Record<string, string>,
): Promise<ManagedSubscription> {
  const changed = { ...present, ...fields, version: newVersion(), updatedAt: changes.now };
  await changes.subscriptions.update(changed);
  await auditSubscription(changes, what, changed, attributes);
  return changed;
}
