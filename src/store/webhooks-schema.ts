import type { Generated } from 'kysely';
import type { AttemptOutcome, DeliveryOrigin, DeliveryStatus } from '../domain/webhooks/deliveries.js';
import type { DisabledReason, SubscriptionStatus } from '../domain/webhooks/subscriptions/subscription.js';

/** The tables of webhooks, which migration 0005 began and 0012 put in order. */
export interface WebhooksSchema {
  subscriptions: SubscriptionsTable;
  subscription_secrets: SubscriptionSecretsTable;
  deliveries: DeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
  retry_batches: RetryBatchesTable;
}

interface SubscriptionsTable {
  id: string;
  instance_integration_id: string;
  /** The connection's, which never changes: events are matched by it. */
  instance_id: string;
  url: string;
  /** JSON arrays. No client stands for all of them. */
  event_types: string;
  client_ids: string;
  description: string;
  status: SubscriptionStatus | 'DELETED';
  disabled_reason: DisabledReason | null;
  disabled_at: number | null;
  /** Written coarsely: not by every success. */
  last_success_at: number | null;
  /** Null while the last attempt that ended was a success, or none has. */
  failing_since: number | null;
  /** The failing_since of the last warning, and its threshold in tenths of the time. */
  warned_failing_since: number | null;
  warned_tenths: Generated<number>;
  version: string;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

/** What signs; sealed for the id of the row, as the bytes behind `whsec_`. */
interface SubscriptionSecretsTable {
  id: string;
  subscription_id: string;
  sealed: string;
  created_at: number;
  expires_at: number | null;
}

/** One event on its way to one subscription. */
interface DeliveriesTable {
  /** In the order in which they were made; what refers to a delivery inside the database does so by this. */
  seq: Generated<number>;
  id: string;
  subscription_id: string;
  event_seq: number;
  event_id: string;
  event_type: string;
  origin: DeliveryOrigin;
  status: DeliveryStatus;
  /** Decides everything: attempt n begins with the one UPDATE that takes it from n-1 to n. */
  attempts_begun: number;
  /** Of the attempt that runs, null with `lease_until` when none does. */
  attempt_started_at: number | null;
  lease_until: number | null;
  /** Of the second and third attempt; the first is due at once. Null while one runs and at the end. */
  next_attempt_at: number | null;
  /** How long after `next_attempt_at` it may be claimed: the time that a workflow has to make it due. */
  grace_ms: Generated<number>;
  retry_batch_id: string | null;
  created_at: number;
  ended_at: number | null;
}

/** Attempts that have ended; one that runs is in its delivery only. */
interface DeliveryAttemptsTable {
  delivery_seq: number;
  number: number;
  started_at: number;
  ended_at: number;
  outcome: AttemptOutcome;
  duration_ms: number | null;
  http_status: number | null;
  /** What went wrong; null for a success of which nothing need be said. */
  message: string | null;
  /** The first bytes of the answer, in base64. */
  response_start: string | null;
}

/** Failed deliveries of one subscription for one workflow. Open to more until it is handed over. */
interface RetryBatchesTable {
  id: string;
  subscription_id: string;
  size: number;
  created_at: number;
  closes_at: number;
  handed_over_at: number | null;
}
