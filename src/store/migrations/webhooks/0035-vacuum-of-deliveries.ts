import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../../adapters/statements/dialect.js';

/**
 * Each delivery leaves two dead versions, in all indexes. By default PostgreSQL removes them once they are a
 * fifth of the table, which keeps the deliveries of weeks: claims would walk over those of days.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  if (isPostgres(db)) {
    await sql`
      alter table deliveries set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)
    `.execute(db);
  }
}
