import type { Kysely } from 'kysely';
import { isPostgres } from '../../adapters/statements/dialect.js';
import { runScript } from '../script.js';

/** Counts of calls that nodes share. A crash of the database, or a fail-over to a replica, may lose them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Without a log to sync, and with room in each page for new versions of its rows.
  const [unlogged, withRoom] = isPostgres(db) ? ['unlogged', 'with (fillfactor = 50)'] : ['', ''];
  await runScript(
    db,
    `create ${unlogged} table call_counts (
      subject ID primary key, started_at bigint not null, ends_at bigint not null, used bigint not null
    ) ${withRoom}`,
  );
}
