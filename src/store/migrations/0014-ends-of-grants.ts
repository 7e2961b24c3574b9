import { type Kysely, sql } from 'kysely';

const YEAR_MS = 365 * 86_400_000;

/** Families of refresh tokens end, however often they are rotated; those of before have a year from their last rotation. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('applications').addColumn('refresh_family_seconds', 'integer').execute();
  await db.schema.alterTable('grants').addColumn('refresh_ends_at', 'bigint').execute();
  await sql`
    update grants set refresh_ends_at = rotated_at + ${sql.lit(YEAR_MS)} where refresh_expires_at is not null
  `.execute(db);
}
