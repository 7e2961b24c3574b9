import type { SubscriptionId } from '../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { newRecordId } from '../../identifiers/record-id.js';
import type { Clock } from '../clock.js';
import { MAX_BATCH_SIZE, type OverdueDelivery, type RetryBatch } from './retry-batches.js';
import type { DeliveryProgress, SendingDependencies, SendingSettings } from './sending.js';
import { hasLapsed, recordLapsed } from './sending-lapses.js';

/** A batch with every delivery as it is now. */
export interface FilledRetryBatch extends RetryBatch {
  eventTypes: string[];
  deliveries: DeliveryProgress[];
}

const MIN_OVERDUE_MS = 10_000;
const MAX_OVERDUE_MS = 120_000;
/** So many delays after its time, nobody seems to make a retry. */
const OVERDUE_DELAYS = 20;
const MAX_OVERDUE_AT_ONCE = 1_000;
const LOOK_FOR_OVERDUE_EVERY_MS = 5_000;
/** Batches close at their times, of which nobody tells. */
const LOOK_EVERY_MS = 250;

/** How long after its time a retry is taken for lost. */
export function overdueAfterMs({ retryDelaysMs }: SendingSettings): number {
  return Math.max(MIN_OVERDUE_MS, Math.min(MAX_OVERDUE_MS, OVERDUE_DELAYS * Math.max(...retryDelaysMs)));
}

/** Gives batches to whoever starts their workflows, again and again until it says that it has. */
export class RetryHandover {
  #lookedForOverdueAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly dependencies: SendingDependencies,
    private readonly clock: Clock,
  ) {}

  /** The oldest first; waits while there are none, until the caller has gone or nothing more is handed out. */
  async claim(limit: number, maxWaitMs: number, caller: AbortSignal): Promise<FilledRetryBatch[]> {
    const { closing } = this.dependencies.deliveriesDue;
    const endsAt = performance.now() + maxWaitMs;
    for (;;) {
      const batches = await this.#waiting(limit);
      const leftMs = endsAt - performance.now();
      if (batches.length > 0 || leftMs <= 0 || caller.aborted || closing.aborted) {
        return batches;
      }
      await pause(Math.min(leftMs, LOOK_EVERY_MS), caller, closing);
    }
  }

  async markHandedOver(ids: readonly string[]): Promise<void> {
    await this.dependencies.unitOfWork.run(({ retryBatches }) => retryBatches.markHandedOver(ids));
  }

  async get(id: string): Promise<FilledRetryBatch> {
    const batch = await this.dependencies.unitOfWork.rows.batch(id);
    if (!batch) {
      throw new ServiceError(ErrorCode.RETRY_BATCH_NOT_FOUND, 'There is no such retry batch.');
    }
    const filled = await this.#fill(batch);
    const lapsed = filled.deliveries.filter((delivery) => hasLapsed(delivery, this.clock()));
    if (lapsed.length === 0) {
      return filled;
    }
    await recordLapsed(this.dependencies, lapsed);
    return this.#fill(batch);
  }

  async #waiting(limit: number): Promise<FilledRetryBatch[]> {
    await this.#rebatchOverdue();
    const found = await this.dependencies.unitOfWork.rows.waitingBatches(this.clock(), limit);
    const filled = await Promise.all(found.map((batch) => this.#fill(batch)));
    const isPending = ({ deliveries }: FilledRetryBatch) =>
      deliveries.some(({ status }) => status === 'PENDING');
    // Of some all deliveries ended before the batch closed, such as by disabling; a workflow would find nothing to do.
    const over = filled.filter((batch) => !isPending(batch));
    if (over.length > 0) {
      await this.markHandedOver(over.map(({ id }) => id));
    }
    return filled.filter(isPending);
  }

  async #fill(batch: RetryBatch): Promise<FilledRetryBatch> {
    const deliveries = await this.dependencies.unitOfWork.rows.deliveriesOf(batch.id);
    const eventTypes = [...new Set(deliveries.map(({ eventType }) => eventType))].sort();
    return { ...batch, eventTypes, deliveries };
  }

  /** Puts into new batches what no workflow retries, such as after Temporal lost its database. */
  async #rebatchOverdue(): Promise<void> {
    const now = this.clock();
    if (now - this.#lookedForOverdueAt < LOOK_FOR_OVERDUE_EVERY_MS) {
      return;
    }
    this.#lookedForOverdueAt = now;
    const { unitOfWork, settings } = this.dependencies;
    const overdue = await unitOfWork.rows.overdue(now - overdueAfterMs(settings), MAX_OVERDUE_AT_ONCE);
    for (const [subscriptionId, deliveries] of bySubscription(overdue)) {
      for (let from = 0; from < deliveries.length; from += MAX_BATCH_SIZE) {
        await this.#rebatch(subscriptionId, deliveries.slice(from, from + MAX_BATCH_SIZE));
      }
    }
  }

  async #rebatch(subscriptionId: SubscriptionId, deliveries: readonly OverdueDelivery[]): Promise<void> {
    await this.dependencies.unitOfWork.run(async ({ now, retryBatches }) => {
      const id = newRecordId('bat');
      let size = 0;
      for (const delivery of deliveries) {
        size += (await retryBatches.move(delivery, id)) ? 1 : 0;
      }
      if (size > 0) {
        await retryBatches.insert({ id, subscriptionId, size, closesAt: now });
      }
    });
  }
}

function bySubscription(deliveries: readonly OverdueDelivery[]): Map<SubscriptionId, OverdueDelivery[]> {
  const grouped = new Map<SubscriptionId, OverdueDelivery[]>();
  for (const delivery of deliveries) {
    const together = grouped.get(delivery.subscriptionId) ?? [];
    grouped.set(delivery.subscriptionId, together);
    together.push(delivery);
  }
  return grouped;
}

function pause(ms: number, ...signals: AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      for (const signal of signals) {
        signal.removeEventListener('abort', end);
      }
      resolve();
    };
    const timer = setTimeout(end, ms);
    for (const signal of signals) {
      signal.addEventListener('abort', end);
    }
  });
}
