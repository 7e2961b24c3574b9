import type { InstanceIntegrationId } from '../../../../generated/ids.js';
import type { OperatorChanges } from '../../operator/unit-of-work.js';
import type { UnitOfWork } from '../../unit-of-work.js';
import { type ManagedSubscription, MOST_CLOSED_AT_ONCE } from './rows.js';
import { MAX_SUBSCRIPTIONS } from './rules.js';
import {
  type ClosingChanges,
  closeRest,
  deleteSubscription,
  disableSubscription,
  enableSubscription,
  type StatusChanges,
} from './status.js';

/** The links of their deliveries no longer work. Configuring the instance integration again enables them. */
export async function disableSubscriptionsOf(
  changes: StatusChanges,
  instanceIntegrationId: InstanceIntegrationId,
): Promise<void> {
  let most = MOST_CLOSED_AT_ONCE;
  for (const { id: subscriptionId } of await subscriptionsOf(changes, instanceIntegrationId)) {
    const { held } = await disableSubscription(changes, { subscriptionId }, 'UNCONFIGURED', most);
    most -= held;
  }
}

/** Before they are enabled, so that enabling is one short write. */
export async function closeRestOf(
  unitOfWork: UnitOfWork<ClosingChanges, Pick<OperatorChanges, 'subscriptions'>>,
  instanceIntegrationId: string,
): Promise<void> {
  const subscriptions = await subscriptionsOf(unitOfWork.rows, instanceIntegrationId);
  for (const { id } of subscriptions.filter(({ status }) => status === 'DISABLED')) {
    await closeRest(unitOfWork, { id, isDeleted: false });
  }
}

/** Except those disabled for another reason. */
export async function enableSubscriptionsOf(
  changes: StatusChanges & Pick<OperatorChanges, 'instanceIntegrations'>,
  instanceIntegrationId: InstanceIntegrationId,
): Promise<void> {
  const subscriptions = await subscriptionsOf(changes, instanceIntegrationId);
  for (const { id } of subscriptions.filter(({ disabledReason }) => disabledReason === 'UNCONFIGURED')) {
    await enableSubscription(changes, { subscriptionId: id });
  }
}

/** Returns their number. */
export async function deleteSubscriptionsOf(
  changes: StatusChanges,
  instanceIntegrationId: InstanceIntegrationId,
): Promise<number> {
  const subscriptions = await subscriptionsOf(changes, instanceIntegrationId);
  let most = MOST_CLOSED_AT_ONCE;
  for (const { id: subscriptionId } of subscriptions) {
    most -= await deleteSubscription(changes, { subscriptionId }, most);
  }
  return subscriptions.length;
}

/** By id, the order in which writes with events lock them. */
async function subscriptionsOf(
  { subscriptions }: Pick<OperatorChanges, 'subscriptions'>,
  instanceIntegrationId: string,
): Promise<ManagedSubscription[]> {
  const all = { after: undefined, limit: MAX_SUBSCRIPTIONS };
  const found = await subscriptions.page(all, { instanceIntegrationId });
  return found.sort((one, other) => (one.id < other.id ? -1 : 1));
}
