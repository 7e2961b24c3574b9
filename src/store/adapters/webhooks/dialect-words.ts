import { type RawBuilder, sql } from 'kysely';
import type { Writer } from '../../database.js';
import { isPostgres } from '../statements/dialect.js';

/** As in the index of open deliveries; otherwise SQLite would not use it. */
export const IS_OPEN = sql<boolean>`status in ('PENDING', 'HELD')`;

/** The same for pending ones. PostgreSQL infers that they are open, and underestimates them if told so. */
export function isPending(db: Writer): RawBuilder<boolean> {
  return isPostgres(db) ? sql`status = 'PENDING'` : sql`${IS_OPEN} and status = 'PENDING'`;
}

/**
 * The next subscription by id that has pending deliveries. Ordered by all columns of the index of open
 * deliveries, so that PostgreSQL takes no other and reads one row.
 */
export function nextPending(db: Writer, than: unknown): RawBuilder<string | null> {
  return sql`(
    select subscription_id from deliveries where ${isPending(db)} and subscription_id > ${than}
    order by subscription_id, attempts_begun, seq limit 1
  )`;
}

/**
 * As in the index of later attempts. PostgreSQL would estimate a plain sum badly, and sort all rows that
 * wait.
 */
export const WAITS_FOR_LATER = sql<boolean>`next_attempt_at is not null and status = 'PENDING'`;
export const CLAIMABLE_AT = sql<number>`(coalesce(next_attempt_at, 0) + grace_ms)`;

/**
 * For rows that are found by key, in a form that fits no index: otherwise PostgreSQL would scan all pending
 * rows when its statistics say that there are few.
 */
export const IS_PENDING_ITSELF = sql<boolean>`status || '' = 'PENDING'`;
