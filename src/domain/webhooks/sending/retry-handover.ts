import { setTimeout as pause } from 'node:timers/promises';
import { ErrorCode, existing } from '../../../errors/service-error.js';
import type { RetryBatch } from './retry-batches.js';
import type { RetriedDelivery, SendingDependencies } from './sending.js';

/** A batch with the present state of its deliveries. */
export interface FilledRetryBatch extends RetryBatch {
  eventTypes: string[];
  deliveries: RetriedDelivery[];
}

/** Poll interval: batches close by time, without an event. */
const LOOK_EVERY_MS = 250;

/** Offers batches until their workflows are reported as started. */
export class RetryHandover {
  constructor(private readonly dependencies: SendingDependencies) {}

  /** Oldest first; waits while there are none, until the caller disconnects or the domain stops. */
  async claim(limit: number, maxWaitMs: number, caller: AbortSignal): Promise<FilledRetryBatch[]> {
    const signal = AbortSignal.any([caller, this.dependencies.deliveriesDue.closing]);
    const endsAt = performance.now() + maxWaitMs;
    this.dependencies.grace.batchesAsked(this.dependencies.clock());
    for (;;) {
      const batches = await this.#waiting(limit);
      const leftMs = endsAt - performance.now();
      if (batches.length > 0) {
        this.dependencies.grace.batchesGiven();
      }
      if (batches.length > 0 || leftMs <= 0 || signal.aborted) {
        return batches;
      }
      await pause(Math.min(leftMs, LOOK_EVERY_MS), undefined, { signal }).catch(() => undefined);
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

  async #waiting(limit: number): Promise<FilledRetryBatch[]> {
    const found = await this.dependencies.unitOfWork.rows.waitingBatches(this.dependencies.clock(), limit);
    const filled = await Promise.all(found.map((batch) => this.#fill(batch)));
    const isPending = ({ deliveries }: FilledRetryBatch) =>
      deliveries.some(({ status }) => status === 'PENDING');
    // All deliveries of some ended before the batch closed, for example by disabling: no workflow is needed.
    const over = filled.filter((batch) => !isPending(batch));
    if (over.length > 0) {
      await this.#mark(over.map(({ id }) => id));
    }
    return filled.filter(isPending);
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
