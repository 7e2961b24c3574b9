import { sql } from 'kysely';
import type { Database } from '../../../src/store/database.js';

/** How many connections to the database wait for a lock. */
export async function connectionsWaiting({ reader }: Pick<Database, 'reader'>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
  `.execute(reader);
  return rows[0]?.count ?? 0;
}
