import { type Kysely, sql } from 'kysely';

/**
 * Events get the order of their entity's changes, of which `occurred_at` can repeat. Earlier releases, which
 * may still write during the upgrade, leave it null.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('events').addColumn('sequence', 'bigint').execute();
  await sql`
    update events set sequence = ordered.sequence from (
      select seq, min(occurred_at) over (partition by entity_id)
        + row_number() over (partition by entity_id order by seq) - 1 as sequence
      from events
    ) as ordered where ordered.seq = events.seq
  `.execute(db);
  await db.schema.createIndex('events_by_entity').on('events').columns(['entity_id', 'sequence']).execute();
}
