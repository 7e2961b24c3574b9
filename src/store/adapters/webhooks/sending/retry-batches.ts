import { sql } from 'kysely';
import {
  MAX_BATCH_SIZE,
  MAX_OPEN_MS,
  type RetryBatch,
  type RetryBatchRows,
} from '../../../../domain/webhooks/sending/retry-batches.js';
import type { RetriedDelivery, SendingRows } from '../../../../domain/webhooks/sending/sending.js';
import { camelCased, type Reader, type Writer } from '../../../database.js';
import { inList } from '../../statements/dialect.js';
import { changedRows, keptPosted, keptStatement, plannedStatement } from '../../statements/kept-statement.js';
import { plainWrites } from '../../statements/plain-writes.js';
import { CLAIMABLE_AT, IS_PENDING_ITSELF } from '../dialect-words.js';
import { PROGRESS } from './results.js';

interface Joining {
  id: string;
  count: number;
  now: number;
  /** The largest size that has room for them. */
  most: number;
}

const join = keptStatement((db, { id, count, now, most }: Joining) =>
  db
    .updateTable('retry_batches')
    .set({ size: sql<number>`size + ${count}` })
    .where('id', '=', (row) =>
      row
        .selectFrom('retry_batches')
        .where('subscription_id', '=', id)
        .where('handed_over_at', 'is', null)
        .where('created_at', '>', sql<number>`cast(${now} as bigint) - ${sql.lit(MAX_OPEN_MS)}`)
        .where('closes_at', '>', now)
        .where('size', '<=', most)
        .orderBy('created_at', 'desc')
        .limit(1)
        .select('id'),
    )
    // Again, for rows that PostgreSQL waited for.
    .where('handed_over_at', 'is', null)
    .where('size', '<=', most)
    .returning('id'),
);

const marking = keptPosted((db, { id, now }: { id: string; now: number }) =>
  db
    .updateTable('retry_batches')
    .set({ handed_over_at: now })
    .where('id', '=', id)
    .where('handed_over_at', 'is', null),
);

const makingDue = keptStatement((db, values: { ids: string; before: number; now: number; latest: number }) =>
  db
    .updateTable('deliveries')
    .set({
      next_attempt_at: sql`case when next_attempt_at > ${values.latest} then ${values.latest} else next_attempt_at end`,
      grace_ms: 0,
    })
    .where(inList(db, 'id', values.ids))
    .where(IS_PENDING_ITSELF)
    .where('attempts_begun', '=', values.before)
    .where('next_attempt_at', 'is not', null)
    .where(CLAIMABLE_AT, '>', values.now),
);

function batches(db: Reader) {
  return db
    .selectFrom('retry_batches as batch')
    .innerJoin('subscriptions as subscription', 'subscription.id', 'batch.subscription_id')
    .select(['batch.id', 'batch.subscription_id as subscriptionId', 'subscription.url'])
    .select('subscription.instance_integration_id as instanceIntegrationId');
}

const waiting = plannedStatement((db, { now, limit }: { now: number; limit: number }) =>
  batches(db)
    .where('batch.handed_over_at', 'is', null)
    .where((where) =>
      where.or([where('batch.closes_at', '<=', now), where('batch.size', '>=', MAX_BATCH_SIZE)]),
    )
    .orderBy('batch.closes_at')
    .orderBy('batch.id')
    .limit(limit),
);

const byId = keptStatement((db, { id }: { id: string }) => batches(db).where('batch.id', '=', id));

/** With the outcome of the last attempt; null while one runs. */
function retried(db: Reader) {
  return db
    .selectFrom('deliveries')
    .leftJoin('delivery_attempts as last', (join) =>
      join
        .onRef('last.delivery_seq', '=', 'deliveries.seq')
        .onRef('last.number', '=', 'deliveries.attempts_begun'),
    )
    .orderBy('deliveries.seq')
    .select([
      ...PROGRESS,
      'deliveries.event_type as eventType',
      'last.outcome as lastOutcome',
      'last.http_status as lastHttpStatus',
    ]);
}

const ofBatch = keptStatement((db, { id }: { id: string }) => retried(db).where('retry_batch_id', '=', id));
const ofIds = keptStatement((db, { ids }: { ids: string }) =>
  retried(db).where(inList(db, 'deliveries.id', ids)),
);

export function retryBatchRows(db: Writer, now: number): RetryBatchRows {
  const { insert } = plainWrites(camelCased(db), 'retryBatches');
  return {
    join: async (id, count, most) => (await join(db, { id, count, now, most: most - count })).rows[0]?.id,
    insert: (batch) => insert({ ...batch, createdAt: now, handedOverAt: null }),
    markHandedOver: async (ids) => {
      for (const id of [...ids].sort()) {
        await marking(db, { id, now });
      }
    },
    makeDue: async (ids, number, when) => {
      if (ids.length === 0) {
        return 0;
      }
      const latest = when === 'now' ? now : Number.MAX_SAFE_INTEGER;
      return changedRows(await makingDue(db, { ids: JSON.stringify(ids), before: number - 1, now, latest }));
    },
  };
}

/** Committed rows, without a transaction. */
export function retryReads(
  reader: Reader,
): Pick<SendingRows, 'waitingBatches' | 'batch' | 'deliveriesOf' | 'retried'> {
  return {
    waitingBatches: async (now, limit) => (await waiting(reader, { now, limit })).rows as RetryBatch[],
    batch: async (id) => (await byId(reader, { id })).rows[0] as RetryBatch | undefined,
    deliveriesOf: async (batchId) => (await ofBatch(reader, { id: batchId })).rows as RetriedDelivery[],
    retried: async (ids) => (await ofIds(reader, { ids: JSON.stringify(ids) })).rows as RetriedDelivery[],
  };
}
