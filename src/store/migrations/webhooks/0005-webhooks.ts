import { type CreateTableBuilder, type Kysely, PostgresAdapter, sql } from 'kysely';
import { idType } from '../id-type.js';

/**
 * Subscriptions, deliveries and attempts. Deliveries are the most rows: ids begin with the time, so that they
 * are appended; there are no foreign keys to look up; partial indexes cover open ones only.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await subscriptions(db);
  await deliveries(db);
  await retries(db);
  await db.schema
    .alterTable('events')
    .addColumn('is_test', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}

async function subscriptions(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('subscriptions')
    .addColumn('id', id, (column) => column.primaryKey())
    // No reference: the row of a deleted subscription outlives the connection.
    .addColumn('instance_integration_id', id, (column) => column.notNull())
    .addColumn('instance_id', id, (column) => column.notNull().references('instances.id'))
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('event_types', 'text', (column) => column.notNull())
    .addColumn('client_ids', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('disabled_reason', 'text')
    .addColumn('disabled_at', 'bigint')
    .addColumn('last_success_at', 'bigint')
    .addColumn('failing_since', 'bigint')
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addColumn('deleted_at', 'bigint')
    .execute();
  await index(db, 'subscriptions', 'by_instance', ['instance_id']);
  await index(db, 'subscriptions', 'by_connection', ['instance_integration_id']);
  await index(db, 'subscriptions', 'by_age', ['created_at', 'id']);
  await index(db, 'subscriptions', 'by_deletion', ['deleted_at']);
  await db.schema
    .createTable('subscription_secrets')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('subscription_id', id, (column) => column.notNull().references('subscriptions.id'))
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .execute();
  await index(db, 'subscription_secrets', 'by_subscription', ['subscription_id']);
  await index(db, 'subscription_secrets', 'by_end', ['expires_at']);
}

async function deliveries(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await inOneTree(db, db.schema.createTable('deliveries'))
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('subscription_id', id, (column) => column.notNull())
    .addColumn('event_id', id, (column) => column.notNull())
    .addColumn('event_type', 'text', (column) => column.notNull())
    .addColumn('origin', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('attempts_begun', 'integer', (column) => column.notNull())
    .addColumn('attempt_started_at', 'bigint')
    .addColumn('lease_until', 'bigint')
    .addColumn('next_attempt_at', 'bigint')
    .addColumn('retry_batch_id', id)
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .execute();
  await index(db, 'deliveries', 'by_event', ['event_id', 'subscription_id']);
  await index(db, 'deliveries', 'by_subscription', ['subscription_id', 'id']);
  await db.schema
    .createIndex('deliveries_open')
    .on('deliveries')
    .columns(['status', 'subscription_id', 'attempts_begun', 'id'])
    .where(sql.ref('status'), 'in', [sql.lit('PENDING'), sql.lit('HELD')])
    .execute();
  await db.schema
    .createIndex('deliveries_under_way')
    .on('deliveries')
    .columns(['subscription_id', 'lease_until'])
    .where(sql.ref('lease_until'), 'is not', null)
    .execute();
  await db.schema
    .createIndex('deliveries_to_retry')
    .on('deliveries')
    .column('next_attempt_at')
    .where(sql.ref('next_attempt_at'), 'is not', null)
    .execute();
  await db.schema
    .createIndex('deliveries_by_batch')
    .on('deliveries')
    .column('retry_batch_id')
    .where(sql.ref('retry_batch_id'), 'is not', null)
    .execute();
  await inOneTree(db, db.schema.createTable('delivery_attempts'))
    .addColumn('delivery_id', id, (column) => column.notNull())
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('duration_ms', 'integer')
    .addColumn('http_status', 'integer')
    .addColumn('message', 'text')
    .addColumn('response_start', 'text')
    .addPrimaryKeyConstraint('delivery_attempts_pair', ['delivery_id', 'number'])
    .execute();
  await index(db, 'delivery_attempts', 'by_age', ['ended_at', 'delivery_id', 'number']);
}

async function retries(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('retry_batches')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('subscription_id', id, (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('closes_at', 'bigint', (column) => column.notNull())
    .addColumn('handed_over_at', 'bigint')
    .execute();
  await db.schema
    .createIndex('retry_batches_waiting')
    .on('retry_batches')
    .columns(['closes_at', 'id'])
    .where(sql.ref('handed_over_at'), 'is', null)
    .execute();
  await index(db, 'retry_batches', 'by_subscription', ['subscription_id', 'created_at']);
  await index(db, 'retry_batches', 'by_age', ['created_at']);
}

/** Otherwise SQLite keeps rows and primary key in separate trees. */
function inOneTree<T extends string, C extends string>(
  db: Kysely<unknown>,
  table: CreateTableBuilder<T, C>,
): CreateTableBuilder<T, C> {
  return db.getExecutor().adapter instanceof PostgresAdapter ? table : table.modifyEnd(sql`without rowid`);
}

async function index(db: Kysely<unknown>, table: string, name: string, columns: string[]): Promise<void> {
  await db.schema.createIndex(`${table}_${name}`).on(table).columns(columns).execute();
}
