import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../../adapters/statements/dialect.js';
import { runScript } from '../script.js';

/**
 * Relays claim second and third attempts too, `grace_ms` after `next_attempt_at`; the index replaces that of
 * `next_attempt_at`. Nodes that do not know `grace_ms` write rows that are claimed when they are due.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runScript(
    db,
    `alter table deliveries add column grace_ms bigint default 0 not null;
    drop index deliveries_to_retry`,
  );
  // SQLite ends each entry of an index with the number of its row.
  const place = sql.raw(isPostgres(db) ? ', seq' : '');
  await sql`
    create index deliveries_later on deliveries (subscription_id, (coalesce(next_attempt_at, 0) + grace_ms)${place})
    where next_attempt_at is not null and status = 'PENDING'
  `.execute(db);
}
