import type { DeliveryId, EventId, InstanceIntegrationId, SubscriptionId } from '../../../generated/ids.js';

/** Regardless of crashes. */
export const MAX_ATTEMPTS = 3;

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'HELD' | 'CANCELLED';

export type DeliveryOrigin = 'EVENT' | 'RESEND' | 'REPLAY' | 'TEST';

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

/** An event on its way to a subscription. */
export interface Delivery {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
  instanceIntegrationId: InstanceIntegrationId;
  eventId: EventId;
  eventType: string;
  origin: DeliveryOrigin;
  status: DeliveryStatus;
  attemptsBegun: number;
  /** Of the running attempt; null with `leaseUntil` if none runs. */
  attemptStartedAt: number | null;
  leaseUntil: number | null;
  nextAttemptAt: number | null;
  retryBatchId: string | null;
  createdAt: number;
  endedAt: number | null;
}

/** The progress before the first attempt. */
export const UNTRIED = {
  status: 'PENDING',
  attemptsBegun: 0,
  attemptStartedAt: null,
  leaseUntil: null,
  nextAttemptAt: null,
  retryBatchId: null,
  endedAt: null,
} as const satisfies Partial<Delivery>;

/** An ended attempt. */
export interface DeliveryAttempt {
  number: number;
  startedAt: number;
  endedAt: number;
  outcome: AttemptOutcome;
  durationMs: number | null;
  httpStatus: number | null;
  message: string | null;
  responseStart: Uint8Array | null;
}

/** The workflow that retries a batch of deliveries. */
export function retryWorkflowIdOf(subscriptionId: string, batchId: string): string {
  return `webhook-retry/${subscriptionId}/${batchId}`;
}
