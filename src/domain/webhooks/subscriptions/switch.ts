import type { SubscriptionId } from '../../../../generated/ids.js';
import type { UnitOfWork } from '../../unit-of-work.js';
import type { WebhookChanges, WebhookRows } from '../unit-of-work.js';
import { type ClosingChanges, closeRest } from './closing.js';
import { MOST_CLOSED_AT_ONCE } from './deliveries.js';
import type { ManagedSubscription } from './rows.js';
import {
  type ChosenSubscription,
  deleteSubscription,
  disableSubscription,
  enableSubscription,
  type StatusChanges,
} from './status.js';

type Switch = UnitOfWork<
  ClosingChanges & StatusChanges & Pick<WebhookChanges, 'instanceIntegrations'>,
  Pick<WebhookRows, 'deliveries'>
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
  return { subscription, held, heldSince: held === 0 ? null : await deliveries.heldSince(subscription.id) };
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
