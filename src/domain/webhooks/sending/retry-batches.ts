import { setTimeout as pause } from 'node:timers/promises';
import type { DeliveryId, InstanceIntegrationId, SubscriptionId } from '../../../../generated/ids.js';
import { ErrorCode, existing } from '../../../errors/service-error.js';
import { newRecordId } from '../../../identifiers/record-id.js';
import type {
  DeliveryProgress,
  RetriedDelivery,
  SendingChanges,
  SendingDependencies,
  SendingSettings,
} from './sending.js';

/** Failed deliveries of one subscription that one workflow retries. */
export interface RetryBatch {
  id: string;
  subscriptionId: SubscriptionId;
  instanceIntegrationId: InstanceIntegrationId;
  url: string;
}

export interface RetryBatchRows {
  /** Adds so many deliveries to an open batch of the subscription with room for all; returns its id. */
  join(id: SubscriptionId, count: number, most: number): Promise<string | undefined>;
  insert(batch: {
    id: string;
    subscriptionId: SubscriptionId;
    size: number;
    closesAt: number;
  }): Promise<void>;
  /** Notes that workflows have started. */
  markHandedOver(ids: readonly string[]): Promise<void>;
  /** Makes attempt `number` claimable for those deliveries that wait for it; returns their number. */
  makeDue(ids: readonly DeliveryId[], number: number, when: 'now' | 'at its time'): Promise<number>;
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
  for (const [subscriptionId, ids] of waitingIn(deliveries)) {
    await joinTogether(changes, subscriptionId, ids, settings, (id, batchId) => joined.set(id, batchId));
  }
  return deliveries.map((delivery) => {
    const retryBatchId = joined.get(delivery.id);
    return retryBatchId === undefined ? delivery : { ...delivery, retryBatchId };
  });
}

/** Unbatched retries by subscription, in the fixed order of locks. */
function waitingIn(deliveries: readonly DeliveryProgress[]): [SubscriptionId, DeliveryId[]][] {
  const waiting = new Map<SubscriptionId, DeliveryId[]>();
  for (const { id, subscriptionId, nextAttemptAt, retryBatchId } of deliveries) {
    if (nextAttemptAt !== null && retryBatchId === null) {
      waiting.set(subscriptionId, [...(waiting.get(subscriptionId) ?? []), id]);
    }
  }
  return [...waiting].sort(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * A batch stays open for a while, to collect failures; it closes before the first of them is due. All join at
 * once if there is room, otherwise half of them, and so on.
 */
async function joinTogether(
  { now, retryBatches }: Pick<SendingChanges, 'now' | 'retryBatches'>,
  subscriptionId: SubscriptionId,
  ids: readonly DeliveryId[],
  { retryDelaysMs: [firstDelayMs] }: SendingSettings,
  onJoined: (id: DeliveryId, batchId: string) => void,
): Promise<void> {
  let left = ids;
  let count = Math.min(left.length, MAX_BATCH_SIZE);
  while (left.length > 0) {
    const open = await retryBatches.join(subscriptionId, count, MAX_BATCH_SIZE);
    if (open === undefined && count > 1) {
      count = Math.floor(count / 2);
      continue;
    }
    const size = open === undefined ? Math.min(left.length, MAX_BATCH_SIZE) : count;
    const batchId = open ?? newRecordId('bat');
    if (open === undefined) {
      const closesAt = now + Math.min(MAX_OPEN_MS, Math.floor(firstDelayMs / 2));
      await retryBatches.insert({ id: batchId, subscriptionId, size, closesAt });
    }
    for (const id of left.slice(0, size)) {
      onJoined(id, batchId);
    }
    left = left.slice(size);
    count = Math.min(left.length, MAX_BATCH_SIZE);
  }
}

/** Also how long a worker counts as present after it asked for batches or marked them as handed over. */
const LONGEST_GRACE_MS = 60_000;
/** If retry delays are short, the grace is this many times the longest. */
const GRACE_DELAYS = 20;

/**
 * How long after the due time the relay waits for a workflow to make a delivery due; 0 without a worker that
 * hands batches over to Temporal, as far as this node knows.
 */
export class RetryGrace {
  readonly #graceMs: number;
  #seenAt = Number.NEGATIVE_INFINITY;
  /** Batches were given to a worker that has not marked them since. */
  #isOwed = false;

  constructor(retryDelaysMs: readonly number[]) {
    this.#graceMs = Math.min(LONGEST_GRACE_MS, GRACE_DELAYS * Math.max(...retryDelaysMs));
  }

  at(now: number): number {
    return Math.abs(now - this.#seenAt) < LONGEST_GRACE_MS ? this.#graceMs : 0;
  }

  batchesAsked(now: number): void {
    if (!this.#isOwed) {
      this.#seenAt = now;
    }
  }

  batchesGiven(): void {
    this.#isOwed = true;
  }

  batchesMarked(now: number): void {
    this.#isOwed = false;
    this.#seenAt = now;
  }
}

/** A batch with the present state of its deliveries. */
export interface FilledRetryBatch extends RetryBatch {
  eventTypes: string[];
  deliveries: RetriedDelivery[];
}

/** Poll interval: batches close by time, without an event. */
const LOOK_EVERY_MS = 250;

/**
 * For so long this domain gives a batch to one worker only: two would start the same workflows, a hundred of
 * which take up to 10 s. At most half the first delay, because the worker may have failed.
 */
const GIVEN_FOR_MS = 15_000;

/** Offers batches until their workflows are reported as started. */
export class RetryHandover {
  /** When this domain gave which batches. */
  readonly #given = new Map<string, number>();

  constructor(
    private readonly dependencies: SendingDependencies,
    private readonly lookEveryMs = LOOK_EVERY_MS,
  ) {}

  /** Oldest first; waits while there are none, until the caller disconnects or the domain stops. */
  async claim(limit: number, maxWaitMs: number, caller: AbortSignal): Promise<FilledRetryBatch[]> {
    const signal = AbortSignal.any([caller, this.dependencies.deliveriesDue.closing]);
    const endsAt = performance.now() + maxWaitMs;
    this.dependencies.grace.batchesAsked(this.dependencies.clock());
    for (;;) {
      const beganAt = performance.now();
      const looked = signal.aborted ? [] : await this.#waiting(limit);
      const batches = looked.filter(isPending);
      const leftMs = endsAt - performance.now();
      if (batches.length > 0) {
        this.dependencies.grace.batchesGiven();
      }
      if (batches.length > 0 || leftMs <= 0 || signal.aborted) {
        return batches;
      }
      // After an outage of Temporal, many ended batches precede an open one. Half the time is for others.
      const tookMs = performance.now() - beganAt;
      const restMs = looked.length > 0 ? Math.min(tookMs, this.lookEveryMs) : this.lookEveryMs;
      await pause(Math.min(leftMs, restMs), undefined, { signal }).catch(() => undefined);
    }
  }

  async markHandedOver(ids: readonly string[]): Promise<void> {
    await this.#mark(ids);
    this.dependencies.grace.batchesMarked(this.dependencies.clock());
  }

  async get(id: string): Promise<FilledRetryBatch> {
    const batch = await this.dependencies.unitOfWork.rows.batch(id);
    return this.#fill(existing(batch, ErrorCode.RETRY_BATCH_NOT_FOUND, 'retry batch'));
  }

  /** Includes ended batches, which it marks because they need no workflow. */
  async #waiting(limit: number): Promise<FilledRetryBatch[]> {
    const { clock, settings, unitOfWork } = this.dependencies;
    const now = clock();
    const givenForMs = Math.min(GIVEN_FOR_MS, settings.retryDelaysMs[0] / 2);
    for (const [id, givenAt] of this.#given) {
      if (Math.abs(now - givenAt) >= givenForMs) {
        this.#given.delete(id);
      }
    }
    const listed = await unitOfWork.rows.waitingBatches(now, limit + this.#given.size);
    const found = listed.filter(({ id }) => !this.#given.has(id)).slice(0, limit);
    for (const { id } of found) {
      this.#given.set(id, now);
    }
    const filled = await Promise.all(found.map((batch) => this.#fill(batch)));
    // In some, all deliveries ended before a worker asked, for example when the subscription was disabled.
    const over = filled.filter((batch) => !isPending(batch));
    if (over.length > 0) {
      await this.#mark(over.map(({ id }) => id));
      for (const { id } of over) {
        this.#given.delete(id);
      }
    }
    return filled;
  }

  async #mark(ids: readonly string[]): Promise<void> {
    await this.dependencies.unitOfWork.run(({ retryBatches }) => retryBatches.markHandedOver(ids));
  }

  async #fill(batch: RetryBatch): Promise<FilledRetryBatch> {
    const deliveries = await this.dependencies.unitOfWork.rows.deliveriesOf(batch.id);
    const eventTypes = [...new Set(deliveries.map(({ eventType }) => eventType))].sort();
    return { ...batch, eventTypes, deliveries };
  }
}

function isPending({ deliveries }: FilledRetryBatch): boolean {
  return deliveries.some(({ status }) => status === 'PENDING');
}
