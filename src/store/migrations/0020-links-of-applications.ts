import type { Kysely } from 'kysely';

/** Applications have a logo, a privacy policy and terms of service. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['logo_uri', 'policy_uri', 'tos_uri']) {
    await db.schema.alterTable('applications').addColumn(column, 'text').execute();
  }
}
