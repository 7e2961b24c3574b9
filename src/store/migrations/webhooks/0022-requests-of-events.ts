import type { Kysely } from 'kysely';

/** Events name the request of their write. Earlier ones, and those of earlier nodes, name none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('events').addColumn('request_id', 'text').execute();
}
