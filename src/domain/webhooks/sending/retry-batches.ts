import type { DeliveryId, InstanceIntegrationId, SubscriptionId } from '../../../../generated/ids.js';
import { newRecordId } from '../../../identifiers/record-id.js';
import type { DeliveryProgress, SendingChanges, SendingSettings } from './sending.js';

/** Failed deliveries of one subscription that one workflow retries. */
export interface RetryBatch {
  id: string;
  subscriptionId: SubscriptionId;
  instanceIntegrationId: InstanceIntegrationId;
  url: string;
}

export interface RetryBatchRows {
  /** Adds a delivery to an open batch of the subscription with room; returns its id. */
  join(id: SubscriptionId, most: number): Promise<string | undefined>;
  insert(batch: {
    id: string;
    subscriptionId: SubscriptionId;
    size: number;
    closesAt: number;
  }): Promise<void>;
  /** Notes that workflows have started. */
  markHandedOver(ids: readonly string[]): Promise<void>;
  /** Makes attempt `number` claimable now where the delivery waits for it. */
  makeDue(ids: readonly DeliveryId[], number: number): Promise<void>;
}

/** As much as a workflow and a person can handle. */
export const MAX_BATCH_SIZE = 100;
export const MAX_OPEN_MS = 2_000;

/** Puts unbatched retries into batches; returns all deliveries, in their order. */
export async function joinRetryBatches(
  changes: Pick<SendingChanges, 'now' | 'retryBatches'>,
  deliveries: readonly DeliveryProgress[],
  settings: SendingSettings,
): Promise<DeliveryProgress[]> {
  const joined = new Map<DeliveryId, string>();
  // By subscription, the fixed order of locks.
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

/** A batch stays open for a while, to collect failures; it closes before the first of them is due. */
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
