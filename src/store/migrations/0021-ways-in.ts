import type { Kysely } from 'kysely';

/** Applications have an address where signing in begins. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('applications').addColumn('initiate_login_uri', 'text').execute();
}
