import { sql } from 'kysely';
import type { Delivery } from '../../../domain/webhooks/deliveries.js';
import type { SubscriptionDeliveryRows } from '../../../domain/webhooks/subscription-deliveries.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';

/** What one statement takes; SQLite has 32,766 values. */
const ROWS_PER_INSERT = 500;

/** In the words of the index of what is open, or SQLite would not use it. */
const IS_OPEN = sql<boolean>`status in ('PENDING', 'HELD')`;

export function subscriptionDeliveryRows(writer: Writer): SubscriptionDeliveryRows {
  return {
    backlogOf: async (id) => {
      const rows = await writer
        .selectFrom('deliveries')
        .where('subscription_id', '=', id)
        .where(IS_OPEN)
        .groupBy('status')
        .select(({ fn }) => ['status', fn.countAll().as('count')])
        .execute();
      const countOf = (wanted: string) => Number(rows.find(({ status }) => status === wanted)?.count ?? 0);
      return { pending: countOf('PENDING'), held: countOf('HELD') };
    },
    heldSince: async (id) => {
      const { first } = await writer
        .selectFrom('deliveries')
        .innerJoin('events', 'events.id', 'deliveries.event_id')
        .where('subscription_id', '=', id)
        .where(IS_OPEN)
        .where('status', '=', 'HELD')
        .select(({ fn }) => fn.min('events.occurred_at').as('first'))
        .executeTakeFirstOrThrow();
      return first === null ? null : Number(first);
    },
    insert: async (deliveries) => {
      for (let from = 0; from < deliveries.length; from += ROWS_PER_INSERT) {
        const rows = deliveries.slice(from, from + ROWS_PER_INSERT).map(toRow);
        await writer.insertInto('deliveries').values(rows).execute();
      }
    },
    insertTestEvent: async ({ id, type, occurredAt, instanceId, clientId, entityType, entityId, data }) => {
      await writer
        .insertInto('events')
        .values({
          id,
          type,
          occurred_at: occurredAt,
          instance_id: instanceId,
          client_id: clientId,
          entity_type: entityType,
          entity_id: entityId,
          data,
          is_test: 1,
        })
        .execute();
    },
    holdPending: (id) => holdPending(writer, id),
    cancelOpen: async (id, now) => {
      const { numUpdatedRows } = await writer
        .updateTable('deliveries')
        .set({ status: 'CANCELLED', next_attempt_at: null, ended_at: now })
        .where('subscription_id', '=', id)
        .where(IS_OPEN)
        .executeTakeFirstOrThrow();
      return Number(numUpdatedRows);
    },
  };
}

/** A lease stays: the attempt under way is still to be recorded. */
export async function holdPending(writer: Writer, subscriptionId: string): Promise<number> {
  const { numUpdatedRows } = await writer
    .updateTable('deliveries')
    .set({ status: 'HELD', next_attempt_at: null })
    .where('subscription_id', '=', subscriptionId)
    .where(IS_OPEN)
    .where('status', '=', 'PENDING')
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

function toRow(delivery: Delivery): Schema['deliveries'] {
  return {
    id: delivery.id,
    subscription_id: delivery.subscriptionId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    origin: delivery.origin,
    status: delivery.status,
    attempts_begun: delivery.attemptsBegun,
    attempt_started_at: delivery.attemptStartedAt,
    lease_until: delivery.leaseUntil,
    next_attempt_at: delivery.nextAttemptAt,
    retry_batch_id: delivery.retryBatchId,
    created_at: delivery.createdAt,
    ended_at: delivery.endedAt,
  };
}
