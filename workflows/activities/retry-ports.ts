import type { AttemptToMake, RetryStatus } from '../contract.js';
import type { DomainCall } from './domain-call.js';

/** How far a delivery is, as the domain tells it. */
export interface RetriedDelivery {
  deliveryId: string;
  status: Exclude<RetryStatus, 'GONE'>;
  attemptsBegun: number;
  nextAttemptAt?: Date | undefined;
  leaseExpiresAt?: Date | undefined;
}

export interface SendTarget {
  url: string;
  signingSecrets: readonly Uint8Array[];
}

export interface SendBody {
  eventId: string;
  eventType: string;
  body: Uint8Array;
}

export type AttemptOutcome =
  | 'SUCCEEDED'
  | 'STATUS_REFUSED'
  | 'TIMED_OUT'
  | 'NAME_NOT_RESOLVED'
  | 'ADDRESS_REFUSED'
  | 'CONNECTION_FAILED'
  | 'TLS_FAILED'
  | 'PROTOCOL_ERROR'
  | 'INTERRUPTED';

/** How one attempt went. Only the outcome and the HTTP status get into a history. */
export interface AttemptReport {
  startedAt: Date;
  durationMs: number;
  outcome: AttemptOutcome;
  httpStatus: number | undefined;
  message: string;
  responseStart: Uint8Array;
  retryAfterSeconds: number | undefined;
}

/** Makes one attempt and never throws; aborted, it ends at once and says so. */
export interface WebhookSender {
  attempt(target: SendTarget, body: SendBody, signal?: AbortSignal): Promise<AttemptReport>;
}

export type AttemptBeginning =
  | { begun: { target: SendTarget; body: SendBody; leaseExpiresAt: Date } }
  /** Without a delivery where there is none; with a lease that runs by the domain's clock, whatever ours says. */
  | { refused: { delivery: RetriedDelivery | undefined; isLeaseRunning: boolean } };

/** The domain has read the result of an attempt and does not take it. */
export class ResultRefused extends Error {}

/** The deliveries as the domain keeps them. Every call may be repeated. */
export interface RetryingDomain {
  /** Those of the batch; none where the batch was purged. */
  retryBatch(batchId: string, call: DomainCall): Promise<RetriedDelivery[]>;
  beginAttempt(attempt: AttemptToMake, call: DomainCall): Promise<AttemptBeginning>;
  /** Undefined if the delivery was purged. Fails with `ResultRefused` where telling it again is of no use. */
  recordAttempt(
    attempt: AttemptToMake,
    report: AttemptReport,
    call: DomainCall,
  ): Promise<RetriedDelivery | undefined>;
  giveUp(deliveryIds: string[], call: DomainCall): Promise<RetriedDelivery[]>;
}

export interface RetryDependencies {
  domain: RetryingDomain;
  sender: WebhookSender;
  /** Of this worker, beside the relay's. */
  sends: { atOnce: number; atOncePerSubscription: number };
  /** Aborted when the process begins to end: attempts under way go on, others are left to the next worker. */
  ending: AbortSignal;
}
