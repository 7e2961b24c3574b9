import type { Kysely } from 'kysely';

/** A session remembers which context its person chose. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('sessions').addColumn('contexts', 'text').execute();
}
