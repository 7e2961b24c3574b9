import type { Selectable } from 'kysely';
import type {
  DeliveryId,
  EventId,
  InstanceIntegrationId,
  SubscriptionId,
} from '../../../../../generated/ids.js';
import type { Delivery, DeliveryAttempt } from '../../../../domain/webhooks/deliveries.js';
import type { Writer } from '../../../database.js';
import type { Schema } from '../../../schema.js';

type Row = Selectable<Schema['deliveries']> & { instance_integration_id: string };

/** Deliveries with fields of their subscription, which outlives them. */
export function deliveriesIn(db: Writer) {
  return db
    .selectFrom('deliveries')
    .innerJoin('subscriptions', 'subscriptions.id', 'deliveries.subscription_id')
    .selectAll('deliveries')
    .select('subscriptions.instance_integration_id');
}

/** With its place in the log. */
export type PlacedDelivery = Delivery & { seq: number };

export function toDelivery(row: Row): PlacedDelivery {
  return {
    seq: row.seq,
    id: row.id as DeliveryId,
    subscriptionId: row.subscription_id as SubscriptionId,
    instanceIntegrationId: row.instance_integration_id as InstanceIntegrationId,
    eventId: row.event_id as EventId,
    eventType: row.event_type,
    origin: row.origin,
    status: row.status,
    attemptsBegun: row.attempts_begun,
    attemptStartedAt: row.attempt_started_at,
    leaseUntil: row.lease_until,
    nextAttemptAt: row.next_attempt_at,
    retryBatchId: row.retry_batch_id,
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
}

export function toAttempt(row: Schema['delivery_attempts']): DeliveryAttempt {
  return {
    number: row.number,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    outcome: row.outcome,
    durationMs: row.duration_ms,
    httpStatus: row.http_status,
    message: row.message,
    responseStart: row.response_start === null ? null : Buffer.from(row.response_start, 'base64'),
  };
}
