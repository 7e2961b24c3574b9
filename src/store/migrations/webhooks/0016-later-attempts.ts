import { type Kysely, PostgresAdapter, sql } from 'kysely';

/**
 * Relays claim second and third attempts too, `grace_ms` after `next_attempt_at`; the index replaces that of
 * `next_attempt_at`. Nodes that do not know `grace_ms` write rows that are claimed when they are due.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  await db.schema
    .alterTable('deliveries')
    .addColumn('grace_ms', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema.dropIndex('deliveries_to_retry').execute();
  // SQLite ends each entry of an index with the number of its row.
  const place = sql.raw(isPostgres ? ', seq' : '');
  await sql`
    create index deliveries_later on deliveries (subscription_id, (coalesce(next_attempt_at, 0) + grace_ms)${place})
    where next_attempt_at is not null and status = 'PENDING'
  `.execute(db);
}
