import type { Generated } from 'kysely';
import type { Delivery, DeliveryAttempt } from '../domain/webhooks/deliveries.js';
import type { SubscriptionSecret } from '../domain/webhooks/subscriptions/rows.js';
import type { Subscription, SubscriptionStatus } from '../domain/webhooks/subscriptions/subscription.js';
import type { Columns } from './columns.js';

/** The tables of webhooks, which migration 0005 began and 0012 put in order. */
export interface WebhooksSchema {
  subscriptions: SubscriptionsTable;
  /** `sealed` has the signing secret: the bytes behind `whsec_`, sealed for the id of the row. */
  subscription_secrets: Columns<SubscriptionSecret> & { subscription_id: string; sealed: string };
  deliveries: DeliveriesTable;
  /** Attempts that have ended; one that runs is in its delivery only. The start of an answer is in base64. */
  delivery_attempts: Columns<DeliveryAttempt> & { delivery_seq: number };
  retry_batches: RetryBatchesTable;
}

interface SubscriptionsTable extends Columns<Omit<Subscription, 'status'>> {
  status: SubscriptionStatus | 'DELETED';
  /** The failing_since of the last warning, and its threshold in tenths of the time. */
  warned_failing_since: number | null;
  warned_tenths: Generated<number>;
  deleted_at: number | null;
}

interface DeliveriesTable extends Columns<Omit<Delivery, 'instanceIntegrationId'>> {
  /** In the order in which they were made; what refers to a delivery inside the database does so by this. */
  seq: Generated<number>;
  event_seq: number;
  /** How long after `next_attempt_at` it may be claimed: the time that a workflow has to make it due. */
  grace_ms: Generated<number>;
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
