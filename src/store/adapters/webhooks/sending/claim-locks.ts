import { type RawBuilder, sql } from 'kysely';
import type { SubscriptionId } from '../../../../../generated/ids.js';
import type { Writer } from '../../../database.js';
import { isLockTimeout } from '../../../dialects/postgres/trouble.js';
import { keptPosted, keptStatement } from '../../statements/kept-statement.js';

/** A number for PostgreSQL: the class of the locks of subscriptions, and the lock of all failing ones. */
const CLAIM_LOCK = 1_938_275_501;
/**
 * The most locks of all nodes together, of which PostgreSQL has room for 6,400 by default. Subscriptions that
 * share a lock only wait for each other.
 */
const SHARDS = 4_096;
/** A claim takes milliseconds; a stalled node must not delay the others more than their poll does. */
const LONGEST_WAIT_MS = 250;

const shardOf = (id: unknown): RawBuilder<unknown> =>
  sql`${sql.lit(CLAIM_LOCK)}, hashtext(${id}) & ${sql.lit(SHARDS - 1)}`;

/** In the list of columns, PostgreSQL evaluates it once for each id. */
export const triesLock = (id: unknown): RawBuilder<boolean> =>
  sql<boolean>`pg_try_advisory_xact_lock(${shardOf(id)})`;

const trying = keptStatement(
  (_, { ids }: { ids: string }) => sql<{ id: string; free: boolean }>`
    select id, ${triesLock(sql.ref('id'))} as free
    from json_array_elements_text(${ids}::json) as ids(id)
  `,
);

const savepoint = keptPosted(() => sql`savepoint claim_wait`);

const waiting = keptStatement(
  (_, { id }: { id: string }) => sql`
    select set_config('lock_timeout', ${sql.lit(String(LONGEST_WAIT_MS))}, true),
      pg_advisory_xact_lock(${shardOf(sql`${id}::text`)})
  `,
);

const tryingFailing = keptStatement(
  () => sql<{ free: boolean }>`select pg_try_advisory_xact_lock(${sql.lit(CLAIM_LOCK)}) as free`,
);

/** Of attempts to failing subscriptions, which are limited together. */
export async function tryLockFailing(db: Writer): Promise<boolean> {
  return (await tryingFailing(db, {})).rows[0]?.free === true;
}

/** Returns the locked ones. */
export async function tryLock(db: Writer, ids: readonly SubscriptionId[]): Promise<SubscriptionId[]> {
  const { rows } = await trying(db, { ids: JSON.stringify(ids) });
  return rows.flatMap(({ id, free }) => (free ? (id as SubscriptionId) : []));
}

/** Returns whether its lock is free, or was for a moment. */
export async function waitFor(db: Writer, id: SubscriptionId): Promise<boolean> {
  await savepoint(db, {});
  try {
    await waiting(db, { id });
    return true;
  } catch (error) {
    if (!isLockTimeout(error)) {
      throw error;
    }
    await sql`rollback to savepoint claim_wait`.execute(db);
    return false;
  }
}
