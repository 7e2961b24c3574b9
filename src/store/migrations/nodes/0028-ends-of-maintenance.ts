import type { Kysely } from 'kysely';

/** When the last run of a job ended, so that of several workers with timers one runs it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('maintenance_runs').addColumn('ended_at', 'bigint').execute();
}
