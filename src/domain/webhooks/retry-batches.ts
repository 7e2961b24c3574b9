import type { DeliveryId, InstanceIntegrationId, SubscriptionId } from '../../../generated/ids.js';
import { newRecordId } from '../../identifiers/record-id.js';
import type { DeliveryProgress, SendingChanges, SendingSettings } from './sending.js';

/** Failed deliveries of one subscription that one workflow retries. */
export interface RetryBatch {
  id: string;
  subscriptionId: SubscriptionId;
  instanceIntegrationId: InstanceIntegrationId;
}

/** A delivery whose retry should have begun long ago, and the batch that should have seen to it. */
export interface OverdueDelivery {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
  retryBatchId: string;
}

export interface RetryBatchRows {
  /** Takes another delivery into a batch of the subscription that is open and has room; answers which. */
  join(id: SubscriptionId, most: number): Promise<string | undefined>;
  insert(batch: {
    id: string;
    subscriptionId: SubscriptionId;
    size: number;
    closesAt: number;
  }): Promise<void>;
  /** Moves a delivery that still waits for its retry, unless somebody has moved it already; says whether it did. */
  move(delivery: OverdueDelivery, batchId: string): Promise<boolean>;
  markHandedOver(ids: readonly string[]): Promise<void>;
}

/** What a workflow can hold and people can look through. */
export const MAX_BATCH_SIZE = 100;
const MAX_OPEN_MS = 2_000;

/** Puts into batches what is to be retried and is in none yet; answers all of the deliveries, in their order. */
export async function joinRetryBatches(
  changes: Pick<SendingChanges, 'now' | 'retryBatches'>,
  deliveries: readonly DeliveryProgress[],
  settings: SendingSettings,
): Promise<DeliveryProgress[]> {
  const joined = new Map<DeliveryId, string>();
  // In the order of subscriptions, as everybody takes batches.
  const joining = deliveries
    .filter((delivery) => delivery.nextAttemptAt !== null && delivery.retryBatchId === null)
    .sort((one, other) => (one.subscriptionId < other.subscriptionId ? -1 : 1));
  for (const { id, subscriptionId } of joining) {
    joined.set(id, await joinOne(changes, subscriptionId, settings));
  }
  return deliveries.map((delivery) => {
    const retryBatchId = joined.get(delivery.id);
    return retryBatchId === undefined ? delivery : { ...delivery, retryBatchId };
  });
}

/** A batch is open for a while, so that failures that come together are retried together; it closes before the first of them is due. */
async function joinOne(
  { now, retryBatches }: Pick<SendingChanges, 'now' | 'retryBatches'>,
  subscriptionId: SubscriptionId,
  { retryDelaysMs: [firstDelayMs] }: SendingSettings,
): Promise<string> {
  const open = await retryBatches.join(subscriptionId, MAX_BATCH_SIZE);
  if (open !== undefined) {
    return open;
  }
  const id = newRecordId('bat');
  const closesAt = now + Math.min(MAX_OPEN_MS, Math.floor(firstDelayMs / 2));
  await retryBatches.insert({ id, subscriptionId, size: 1, closesAt });
  return id;
}
