import type { InstanceIntegrationId } from '../../../generated/ids.js';
import type { Actor } from '../operator/audit.js';
import { type ClosingUnitOfWork, closeRest } from './subscription-closing.js';
import { MOST_CLOSED_AT_ONCE } from './subscription-deliveries.js';
import type { ManagedSubscription } from './subscription-rows.js';
import { MAX_SUBSCRIPTIONS } from './subscription-rules.js';
import {
  deleteSubscription,
  disableSubscription,
  enableSubscription,
  type StatusChanges,
} from './subscription-status.js';
import type { WebhookChanges } from './unit-of-work.js';

/** What is pending is held, as by an operator who disables: the links in it lead nowhere any more. Configured again, they are enabled again. */
export async function disableSubscriptionsOf(
  changes: StatusChanges,
  connectionId: InstanceIntegrationId,
): Promise<void> {
  let most = MOST_CLOSED_AT_ONCE;
  for (const { id: subscriptionId } of await subscriptionsOf(changes, connectionId)) {
    const { held } = await disableSubscription(changes, { subscriptionId }, 'UNCONFIGURED', most);
    most -= held;
  }
}

/** Before they are enabled, so that enabling finds nothing left to hold and is one short write. */
export async function closeRestOf(
  unitOfWork: ClosingUnitOfWork,
  actor: Actor,
  connectionId: string,
): Promise<void> {
  const subscriptions = await unitOfWork.run(actor, (changes) => subscriptionsOf(changes, connectionId));
  for (const { id } of subscriptions.filter(({ status }) => status === 'DISABLED')) {
    await closeRest(unitOfWork, { id, isDeleted: false });
  }
}

/** But for those that were disabled for another reason. */
export async function enableSubscriptionsOf(
  changes: StatusChanges & Pick<WebhookChanges, 'connections'>,
  connectionId: InstanceIntegrationId,
): Promise<void> {
  for (const { id: subscriptionId, disabledReason } of await subscriptionsOf(changes, connectionId)) {
    if (disabledReason === 'UNCONFIGURED') {
      await enableSubscription(changes, { subscriptionId });
    }
  }
}

/** Answers how many there were. */
export async function deleteSubscriptionsOf(
  changes: StatusChanges,
  connectionId: InstanceIntegrationId,
): Promise<number> {
  const subscriptions = await subscriptionsOf(changes, connectionId);
  let most = MOST_CLOSED_AT_ONCE;
  for (const { id: subscriptionId } of subscriptions) {
    most -= await deleteSubscription(changes, { subscriptionId }, most);
  }
  return subscriptions.length;
}

function subscriptionsOf(
  { subscriptions }: Pick<WebhookChanges, 'subscriptions'>,
  instanceIntegrationId: string,
): Promise<ManagedSubscription[]> {
  return subscriptions.page({ after: undefined, limit: MAX_SUBSCRIPTIONS }, { instanceIntegrationId });
}
