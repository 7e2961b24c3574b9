import { type Kysely, sql } from 'kysely';
import { idType } from './id-type.js';

const YEAR_MS = 365 * 86_400_000;

/** Families of refresh tokens end; existing ones a year after their last use. Grants name their session. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('applications').addColumn('refresh_family_seconds', 'integer').execute();
  await db.schema.alterTable('grants').addColumn('refresh_ends_at', 'bigint').execute();
  await sql`
    update grants set refresh_ends_at = rotated_at + ${sql.lit(YEAR_MS)} where refresh_expires_at is not null
  `.execute(db);
  await db.schema
    .alterTable('applications')
    .addColumn('sign_out_ends_tokens', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  for (const table of ['authorization_codes', 'grants']) {
    await db.schema.alterTable(table).addColumn('session_id', idType(db)).execute();
  }
}
