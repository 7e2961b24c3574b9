import { type Kysely, PostgresAdapter, sql } from 'kysely';
import { idType } from '../id-type.js';

/** Counts of calls that nodes share. A crash of the database, or a fail-over to a replica, may lose them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  let table = db.schema
    .createTable('call_counts')
    .addColumn('subject', idType(db), (column) => column.primaryKey())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .addColumn('used', 'bigint', (column) => column.notNull());
  if (isPostgres) {
    // Without a log to sync, and with room in each page for new versions of its rows.
    table = table.modifyFront(sql`unlogged`).modifyEnd(sql`with (fillfactor = 50)`);
  }
  await table.execute();
}
