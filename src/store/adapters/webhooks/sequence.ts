import { type RawBuilder, sql } from 'kysely';

/**
 * The sequence of the next event of an entity: the time or, if an event has that already, one more than the
 * last. A time, so that it grows also after a purge and tells nothing of other events. The entity must be
 * locked.
 */
export function nextSequence(entityId: string, now: number): RawBuilder<number> {
  return sql`coalesce((
    select sequence + 1 from events where entity_id = ${entityId} and sequence >= ${now} order by sequence desc limit 1
  ), ${now})`;
}
