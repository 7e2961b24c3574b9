import type { AttemptToMake, RetryStatus } from '../contract.js';
import type { DomainCall } from './domain-call.js';

/** The progress of a delivery, from the domain. */
export interface RetriedDelivery {
  deliveryId: string;
  status: Exclude<RetryStatus, 'GONE'>;
  attemptsBegun: number;
  nextAttemptAt?: Date | undefined;
  leaseExpiresAt?: Date | undefined;
  /** The end of the last attempt, such as `answered 503`; absent while one runs. */
  lastAttempt?: string | undefined;
}

/** The domain's calls for retries, all repeatable. */
export interface RetryingDomain {
  /** The deliveries of the batch; none if it was purged. */
  retryBatch(batchId: string, call: DomainCall): Promise<RetriedDelivery[]>;
  /** Makes attempts due, so that the relay makes them. Omits purged deliveries. */
  makeDue(attempts: AttemptToMake[], call: DomainCall): Promise<RetriedDelivery[]>;
  giveUp(deliveryIds: string[], call: DomainCall): Promise<RetriedDelivery[]>;
}
