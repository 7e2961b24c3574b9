import type { Kysely } from 'kysely';

/** Events name the span of their write, if it was traced. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('events').addColumn('traceparent', 'text').execute();
}
