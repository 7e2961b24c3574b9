import { type Kysely, sql } from 'kysely';
import { runScript } from './script.js';

const YEAR_MS = 365 * 86_400_000;

/** Families of refresh tokens end; existing ones a year after their last use. Grants name their session. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runScript(
    db,
    `alter table applications add column refresh_family_seconds integer;
    alter table grants add column refresh_ends_at bigint`,
  );
  await sql`
    update grants set refresh_ends_at = rotated_at + ${sql.lit(YEAR_MS)} where refresh_expires_at is not null
  `.execute(db);
  await runScript(
    db,
    `alter table applications add column sign_out_ends_tokens integer default 0 not null;
    alter table authorization_codes add column session_id ID;
    alter table grants add column session_id ID`,
  );
}
