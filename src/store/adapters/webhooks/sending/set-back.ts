import { sql } from 'kysely';
import type { SendingChanges } from '../../../../domain/webhooks/sending/sending.js';
import type { Reader, Writer } from '../../../database.js';
import { WAITS_FOR_LATER } from '../dialect-words.js';

/** Whether attempts with a later time show that the clock was set back. Uses indexes; usually finds none. */
export async function anyLaterThan(db: Reader, now: number): Promise<boolean> {
  const begun = db
    .selectFrom('deliveries')
    .where('lease_until', 'is not', null)
    .where('attempt_started_at', '>', now);
  const ended = db.selectFrom('delivery_attempts').where('ended_at', '>', now);
  return (
    (await ended.select('number').limit(1).executeTakeFirst()) !== undefined ||
    (await begun.select('seq').limit(1).executeTakeFirst()) !== undefined
  );
}

/** Runs only after the clock was set back, so it may scan all running and waiting deliveries. */
export function settingBack(db: Writer, now: number): Pick<SendingChanges, 'beginAnew'> {
  return {
    beginAnew: async () => {
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
    },
  };
}
