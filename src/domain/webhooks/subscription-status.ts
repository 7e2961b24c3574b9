import { newVersion } from '../version.js';
import { assertConfigured } from './resend.js';
import { recordSubscription } from './subscription-audit.js';
import { MOST_CLOSED_AT_ONCE } from './subscription-deliveries.js';
import { lockedSubscription, type ManagedSubscription } from './subscription-rows.js';
import type { DisabledReason, Subscription } from './subscriptions.js';
import type { WebhookChanges } from './unit-of-work.js';

export interface ChosenSubscription {
  subscriptionId: string;
  expectedVersion?: string;
}

/** What a change of status touches. */
export type StatusChanges = Pick<WebhookChanges, 'now' | 'subscriptions' | 'deliveries' | 'record'>;

/** What it missed stays held until it is replayed. */
export async function enableSubscription(
  changes: StatusChanges & Pick<WebhookChanges, 'connections'>,
  { subscriptionId, expectedVersion }: ChosenSubscription,
): Promise<ManagedSubscription> {
  const present = await lockedSubscription(changes, subscriptionId, expectedVersion);
  if (present.status === 'ACTIVE') {
    return present;
  }
  await assertConfigured(changes, present);
  // Mostly nothing: whoever enables has the rest held first, so that this write is short.
  await changes.deliveries.holdPending(present.id, Number.MAX_SAFE_INTEGER);
  return writeStatus(changes, 'enabled', present, {
    status: 'ACTIVE',
    disabledReason: null,
    disabledAt: null,
    failingSince: null,
  });
}

/**
 * Nothing is sent to it from now on. Holds the first of what is pending, as much as one write may; `closeRest` holds the rest. Whoever records an event
 * meanwhile sees the subscription before or after it, never in between.
 */
export async function disableSubscription(
  changes: StatusChanges,
  { subscriptionId, expectedVersion }: ChosenSubscription,
  reason: DisabledReason = 'OPERATOR',
  most = MOST_CLOSED_AT_ONCE,
): Promise<{ subscription: ManagedSubscription; held: number }> {
  const present = await lockedSubscription(changes, subscriptionId, expectedVersion);
  // What an operator disables stays disabled when its connection is configured again.
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

/** Its deliveries stay to be looked at. Cancels the first of those that are open, as many as one write may; `closeRest` cancels the rest. */
export async function deleteSubscription(
  changes: StatusChanges,
  { subscriptionId, expectedVersion }: ChosenSubscription,
  most = MOST_CLOSED_AT_ONCE,
): Promise<number> {
  const present = await lockedSubscription(changes, subscriptionId, expectedVersion);
  await changes.subscriptions.delete(present.id, changes.now);
  const cancelled = await changes.deliveries.cancelOpen(present.id, changes.now, most);
  await recordSubscription(changes, 'deleted', present);
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
  await recordSubscription(changes, what, changed, attributes);
  return changed;
}
