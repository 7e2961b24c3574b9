import { newVersion } from '../version.js';
import { recordSubscription } from './subscription-audit.js';
import { lockedSubscription, type ManagedSubscription } from './subscription-rows.js';
import type { Subscription } from './subscriptions.js';
import type { WebhookChanges } from './unit-of-work.js';

export interface ChosenSubscription {
  subscriptionId: string;
  expectedVersion?: string;
}

/** What it missed stays held until it is replayed. */
export async function enableSubscription(
  changes: WebhookChanges,
  { subscriptionId, expectedVersion }: ChosenSubscription,
): Promise<ManagedSubscription> {
  const present = await lockedSubscription(changes, subscriptionId, expectedVersion);
  if (present.status === 'ACTIVE') {
    return present;
  }
  return writeStatus(changes, 'enabled', present, {
    status: 'ACTIVE',
    disabledReason: null,
    disabledAt: null,
    failingSince: null,
  });
}

/** Holds what is pending. Whoever records an event meanwhile sees the subscription before or after it, never in between. */
export async function disableSubscription(
  changes: WebhookChanges,
  { subscriptionId, expectedVersion }: ChosenSubscription,
): Promise<{ subscription: ManagedSubscription; held: number }> {
  const present = await lockedSubscription(changes, subscriptionId, expectedVersion);
  if (present.status === 'DISABLED') {
    return { subscription: present, held: 0 };
  }
  const subscription = await writeStatus(
    changes,
    'disabled',
    present,
    { status: 'DISABLED', disabledReason: 'OPERATOR', disabledAt: changes.now },
    { reason: 'OPERATOR' },
  );
  return { subscription, held: await changes.deliveries.holdPending(present.id) };
}

/** Its deliveries stay to be looked at; those that are open are cancelled. */
export async function deleteSubscription(
  changes: Pick<WebhookChanges, 'now' | 'subscriptions' | 'deliveries' | 'record'>,
  { subscriptionId, expectedVersion }: ChosenSubscription,
): Promise<number> {
  const present = await lockedSubscription(changes, subscriptionId, expectedVersion);
  await changes.subscriptions.delete(present.id, changes.now);
  const cancelled = await changes.deliveries.cancelOpen(present.id, changes.now);
  await recordSubscription(changes, 'deleted', present);
  return cancelled;
}

async function writeStatus(
  changes: WebhookChanges,
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
