import { type Compilable, sql } from 'kysely';
import {
  MAX_BATCH_SIZE,
  type OverdueDelivery,
  type RetryBatch,
  type RetryBatchRows,
} from '../../../domain/webhooks/retry-batches.js';
import type { DeliveryProgress, SendingRows } from '../../../domain/webhooks/sending.js';
import type { Reader, Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { changedOne, keptStatement } from '../kept-statement.js';
import { IS_PENDING_ITSELF } from './dialect-words.js';
import { subscriptionsWithDue } from './sending-claims.js';
import { PROGRESS } from './sending-results.js';

const join = keptStatement((db, { id, now, most }: { id: string; now: number; most: number }) =>
  db
    .updateTable('retry_batches')
    .set(({ eb }) => ({ size: eb('size', '+', 1) }))
    .where('id', '=', (row) =>
      row
        .selectFrom('retry_batches')
        .where('subscription_id', '=', id)
        .where('handed_over_at', 'is', null)
        .where('closes_at', '>', now)
        .where('size', '<', most)
        .orderBy('created_at', 'desc')
        .limit(1)
        .select('id'),
    )
    // Once more, for what PostgreSQL has waited for meanwhile.
    .where('handed_over_at', 'is', null)
    .where('size', '<', most)
    .returning('id'),
);

const insertion = keptStatement((db, row: Schema['retry_batches']) =>
  db.insertInto('retry_batches').values(row),
);

const marking = keptStatement((db, { id, now }: { id: string; now: number }) =>
  db
    .updateTable('retry_batches')
    .set({ handed_over_at: now })
    .where('id', '=', id)
    .where('handed_over_at', 'is', null),
);

const moving = keptStatement((db, row: { id: string; from: string; to: string }) =>
  db
    .updateTable('deliveries')
    .set({ retry_batch_id: row.to })
    .where('id', '=', row.id)
    .where('retry_batch_id', '=', row.from)
    .where(IS_PENDING_ITSELF)
    .where('lease_until', 'is', null),
);

const batchFields = ['batch.id', 'batch.subscription_id as subscriptionId'] as const;

const waiting = keptStatement((db, { now, limit }: { now: number; limit: number }) =>
  db
    .selectFrom('retry_batches as batch')
    .innerJoin('subscriptions as subscription', 'subscription.id', 'batch.subscription_id')
    .where('batch.handed_over_at', 'is', null)
    .where((where) =>
      where.or([where('batch.closes_at', '<=', now), where('batch.size', '>=', MAX_BATCH_SIZE)]),
    )
    .orderBy('batch.closes_at')
    .orderBy('batch.id')
    .limit(limit)
    .select([...batchFields, 'subscription.instance_integration_id as instanceIntegrationId']),
);

const byId = keptStatement((db, { id }: { id: string }) =>
  db
    .selectFrom('retry_batches as batch')
    .innerJoin('subscriptions as subscription', 'subscription.id', 'batch.subscription_id')
    .where('batch.id', '=', id)
    .select([...batchFields, 'subscription.instance_integration_id as instanceIntegrationId']),
);

const ofBatch = keptStatement((db, { id }: { id: string }) =>
  db
    .selectFrom('deliveries')
    .where('retry_batch_id', '=', id)
    .orderBy('seq')
    .select([...PROGRESS, 'deliveries.event_type as eventType']),
);

const overdue = keptStatement((db, { before, limit }: { before: number; limit: number }) =>
  db
    .selectFrom('deliveries')
    .innerJoin('retry_batches as batch', 'batch.id', 'deliveries.retry_batch_id')
    .where('deliveries.next_attempt_at', '<', before)
    .where('deliveries.status', '=', 'PENDING')
    .where('deliveries.lease_until', 'is', null)
    .where('batch.handed_over_at', '<', before)
    .orderBy('deliveries.next_attempt_at')
    .limit(limit)
    .select(['deliveries.id', 'deliveries.subscription_id as subscriptionId', 'batch.id as retryBatchId']),
);

/** By the index of what is under way, which alone tells which they are. */
const lapsed = keptStatement(
  (db, { now, limit }: { now: number; limit: number }): Compilable<DeliveryProgress> => {
    const seqs = sql<number>`(select seq from deliveries where lease_until is not null and lease_until <= ${now} limit ${limit})`;
    return db
      .selectFrom('deliveries')
      .where('seq', 'in', seqs)
      .select(PROGRESS) as unknown as Compilable<DeliveryProgress>;
  },
);

export function retryBatchRows(db: Writer, now: number): RetryBatchRows {
  return {
    join: async (id, most) => (await join(db, { id, now, most })).rows[0]?.id,
    insert: async ({ id, subscriptionId, size, closesAt }) => {
      await insertion(db, {
        id,
        subscription_id: subscriptionId,
        size,
        created_at: now,
        closes_at: closesAt,
        handed_over_at: null,
      });
    },
    move: async ({ id, retryBatchId }, batchId) =>
      changedOne(await moving(db, { id, from: retryBatchId, to: batchId })),
    markHandedOver: async (ids) => {
      for (const id of [...ids].sort()) {
        await marking(db, { id, now });
      }
    },
  };
}

export function sendingRows(reader: Reader): SendingRows {
  return {
    anyDue: async () => (await subscriptionsWithDue(reader, '', 1)).length > 0,
    lapsed: async (now, limit) => (await lapsed(reader, { now, limit })).rows,
    overdue: async (before, limit) => (await overdue(reader, { before, limit })).rows as OverdueDelivery[],
    waitingBatches: async (now, limit) => (await waiting(reader, { now, limit })).rows as RetryBatch[],
    batch: async (id) => (await byId(reader, { id })).rows[0] as RetryBatch | undefined,
    deliveriesOf: async (batchId) =>
      (await ofBatch(reader, { id: batchId })).rows as (DeliveryProgress & { eventType: string })[],
  };
}
