import { sql } from 'kysely';
import type {
  LapsedDelivery,
  SendingRows,
  SendingUnitOfWork,
} from '../../../../domain/webhooks/sending/sending.js';
import type { Database, Reader, Writer } from '../../../database.js';
import { isPostgres } from '../../statements/dialect.js';
import { findsAny, plannedStatement } from '../../statements/kept-statement.js';
import { unitOfWorkOver } from '../../unit-of-work.js';
import { WAITS_FOR_LATER } from '../dialect-words.js';
import { claiming } from './claims.js';
import { DueLooks, type LookLimits } from './due-looks.js';
import { outboxOf } from './outbox.js';
import { recording } from './results.js';
import { retryBatchRows, retryReads } from './retry-batches.js';

export function sendingUnitOfWork(
  database: Database,
  onLookFailed?: (error: unknown) => void,
  lookLimits?: LookLimits,
): SendingUnitOfWork {
  const looks = new DueLooks(database.patient, onLookFailed, lookLimits);
  return unitOfWorkOver(
    database,
    (reader) => sendingRows(reader, looks),
    (writer, { now, audit }) => ({
      now,
      audit,
      ...claiming(writer, now, looks),
      ...recording(writer, now),
      lapsed: async (limit) => (await lapsed(writer, { now, limit })).rows as LapsedDelivery[],
      beginAnew: () => beginAnew(writer, now),
      retryBatches: retryBatchRows(writer, now),
    }),
  );
}

function sendingRows(reader: Reader, looks: DueLooks): SendingRows {
  return {
    ...retryReads(reader),
    anyLaterThan: (now) => anyLaterThan(reader, now),
    anyDue: (now) => looks.any(reader, now),
    dueSubscriptions: (after, limit, now) => looks.roundBefore(reader, after, now, limit),
    anyLapsed: (now) => findsAny(lapsedBefore(reader, now).select('seq')),
    outbox: () => outboxOf(reader),
  };
}

/** By the index of running attempts. */
function lapsedBefore(db: Reader, now: number) {
  return db.selectFrom('deliveries').where('lease_until', 'is not', null).where('lease_until', '<=', now);
}

const lapsed = plannedStatement((db, { now, limit }: { now: number; limit: number }) => {
  const found = lapsedBefore(db, now)
    .limit(limit)
    .select(['deliveries.id', 'deliveries.attempts_begun as attemptsBegun']);
  if (!isPostgres(db)) {
    return found;
  }
  return found
    .innerJoin('subscriptions', 'subscriptions.id', 'deliveries.subscription_id')
    .modifyEnd(sql`for update of deliveries skip locked for key share of subscriptions skip locked`);
});

/** Whether attempts with a later time show that the clock was set back. Uses indexes; usually finds none. */
async function anyLaterThan(db: Reader, now: number): Promise<boolean> {
  const begun = db
    .selectFrom('deliveries')
    .where('lease_until', 'is not', null)
    .where('attempt_started_at', '>', now);
  const ended = db.selectFrom('delivery_attempts').where('ended_at', '>', now);
  return (await findsAny(ended.select('number'))) || findsAny(begun.select('seq'));
}

/** Runs only after the clock was set back, so it may scan all running and waiting deliveries. */
async function beginAnew(db: Writer, now: number): Promise<number> {
  const leases = await db
    .updateTable('deliveries')
    .set({
      lease_until: sql<number>`lease_until - attempt_started_at + ${now}`,
      attempt_started_at: now,
    })
    .where('lease_until', 'is not', null)
    .where('attempt_started_at', '>', now)
    .executeTakeFirstOrThrow();
  const endOfLast = sql<number>`(
    select ended_at from delivery_attempts
    where delivery_seq = deliveries.seq and number = deliveries.attempts_begun
  )`;
  const waits = await db
    .updateTable('deliveries')
    .set({ next_attempt_at: sql<number>`next_attempt_at - ${endOfLast} + ${now}` })
    .where(WAITS_FOR_LATER)
    .where(endOfLast, '>', now)
    // An earlier time has already been corrected.
    .where(sql<boolean>`next_attempt_at >= ${endOfLast}`)
    .executeTakeFirstOrThrow();
  await db
    .updateTable('retry_batches')
    .set({ closes_at: now })
    .where('handed_over_at', 'is', null)
    .where('created_at', '>', now)
    .execute();
  return Number(leases.numUpdatedRows + waits.numUpdatedRows);
}
