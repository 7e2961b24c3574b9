import { type Kysely, sql } from 'kysely';
import { runScript } from '../script.js';

/**
 * Events get the order of their entity's changes, of which `occurred_at` can repeat: the time or, if
 * an earlier event of the entity has this or a greater sequence, one more than the greatest.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runScript(db, 'alter table events add column sequence bigint');
  await sql`
    update events set sequence = ordered.sequence from (
      select seq, place + max(occurred_at - place) over (partition by entity_id order by seq) as sequence from (
        select seq, entity_id, occurred_at, row_number() over (partition by entity_id order by seq) as place from events
      ) as placed
    ) as ordered where ordered.seq = events.seq
  `.execute(db);
  await runScript(db, 'create index events_by_entity on events (entity_id, sequence)');
}
