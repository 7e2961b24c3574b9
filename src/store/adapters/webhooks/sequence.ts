import { type RawBuilder, sql } from 'kysely';

/**
 * The sequence of the next event of an entity: the time or, if an event has that already, one more than the
 * last. A time, so that it grows also after a purge and tells nothing of other events. Those without one, of
 * nodes of earlier releases, have the time. The entity must be locked.
 */
export function nextSequence(entityId: string, now: number): RawBuilder<number> {
  return sql`(
    select max(next) from (
      select cast(${now} as bigint) as next
      union all select max(sequence) + 1 from events where entity_id = ${entityId} and sequence >= ${now}
      union all select max(occurred_at) + 1 from events where entity_id = ${entityId} and sequence is null and occurred_at >= ${now}
    ) as candidates
  )`;
}
