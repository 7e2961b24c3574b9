import { type CreateTableBuilder, type Kysely, PostgresAdapter, sql } from 'kysely';
import { idType } from '../id-type.js';

/**
 * Events and deliveries get `seq` for their order, because new ids are random. Rows, tables and indexes use
 * `seq`; the id is in one index only, since random keys touch a page each. Existing ids stay.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await events(db);
  await deliveries(db);
  await attempts(db);
  await db.schema.dropTable('deliveries_before').execute();
}

const EVENT = 'type, occurred_at, instance_id, client_id, entity_type, entity_id, data, is_test';

async function events(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema.alterTable('events').renameTo('events_before').execute();
  await dropIndexes(db, ['events_by_age', 'events_by_client']);
  await ordered(db, 'events')
    .addColumn('id', id, (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('occurred_at', 'bigint', (column) => column.notNull())
    .addColumn('instance_id', id, (column) => column.notNull())
    .addColumn('client_id', id, (column) => column.notNull())
    .addColumn('entity_type', 'text', (column) => column.notNull())
    .addColumn('entity_id', id, (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .addColumn('is_test', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await sql`
    insert into events (seq, id, ${sql.raw(EVENT)})
    select row_number() over (order by occurred_at, id), id, ${sql.raw(EVENT)} from events_before order by 1
  `.execute(db);
  await db.schema.dropTable('events_before').execute();
  await countOn(db, 'events');
  await db.schema.createIndex('events_by_id').unique().on('events').column('id').execute();
  await index(db, 'events', 'by_age', ['occurred_at']);
  await index(db, 'events', 'by_client', ['client_id', 'occurred_at']);
}

const DELIVERY =
  'subscription_id, event_id, event_type, origin, status, attempts_begun, attempt_started_at, lease_until, next_attempt_at, retry_batch_id, created_at, ended_at';

async function deliveries(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema.alterTable('deliveries').renameTo('deliveries_before').execute();
  const old = ['by_event', 'by_subscription', 'open', 'under_way', 'to_retry', 'by_batch'];
  await dropIndexes(
    db,
    old.map((name) => `deliveries_${name}`),
  );
  await ordered(db, 'deliveries')
    .addColumn('id', id, (column) => column.notNull())
    .addColumn('subscription_id', id, (column) => column.notNull())
    .addColumn('event_seq', 'bigint', (column) => column.notNull())
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
  // No delivery outlives its event, so none is lost. Ids until here are in the order of age.
  await sql`
    insert into deliveries (seq, id, event_seq, ${sql.raw(DELIVERY)})
    select row_number() over (order by old.id), old.id, events.seq, ${sql.raw(DELIVERY.replaceAll(/\b(?=\w+)/g, 'old.'))}
    from deliveries_before as old join events on events.id = old.event_id order by 1
  `.execute(db);
  await countOn(db, 'deliveries');
  await db.schema.createIndex('deliveries_by_id').unique().on('deliveries').column('id').execute();
  await db.schema
    .createIndex('deliveries_by_event')
    .on('deliveries')
    .columns(['event_seq', 'subscription_id'])
    .execute();
  await index(db, 'deliveries', 'by_age', ['created_at']);
  await index(db, 'deliveries', 'by_subscription', ['subscription_id', 'created_at']);
  await db.schema
    .createIndex('deliveries_open')
    .on('deliveries')
    // SQLite appends the rowid to each index entry.
    .columns(['status', 'subscription_id', 'attempts_begun', ...(isPostgres(db) ? ['seq'] : [])])
    .where(sql.ref('status'), 'in', [sql.lit('PENDING'), sql.lit('HELD')])
    .execute();
  await db.schema
    .createIndex('deliveries_under_way')
    .on('deliveries')
    .columns(['subscription_id', 'lease_until'])
    .where(sql.ref('lease_until'), 'is not', null)
    .execute();
  for (const [name, column] of [
    ['to_retry', 'next_attempt_at'],
    ['by_batch', 'retry_batch_id'],
  ] as const) {
    await db.schema
      .createIndex(`deliveries_${name}`)
      .on('deliveries')
      .column(column)
      .where(sql.ref(column), 'is not', null)
      .execute();
  }
}

const ATTEMPT = 'number, started_at, ended_at, outcome, duration_ms, http_status, message, response_start';

async function attempts(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('delivery_attempts').renameTo('attempts_before').execute();
  await dropIndexes(db, ['delivery_attempts_by_age']);
  const table = db.schema
    .createTable('delivery_attempts')
    .addColumn('delivery_seq', 'bigint', (column) => column.notNull())
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('duration_ms', 'integer')
    .addColumn('http_status', 'integer')
    .addColumn('message', 'text')
    .addColumn('response_start', 'text')
    .addPrimaryKeyConstraint('delivery_attempts_key', ['delivery_seq', 'number']);
  // Otherwise SQLite keeps rows and primary key in separate trees.
  await (isPostgres(db) ? table : table.modifyEnd(sql`without rowid`)).execute();
  await sql`
    insert into delivery_attempts (delivery_seq, ${sql.raw(ATTEMPT)})
    select deliveries.seq, ${sql.raw(ATTEMPT.replaceAll(/\b(?=\w+)/g, 'old.'))}
    from attempts_before as old join deliveries on deliveries.id = old.delivery_id order by 1, 2
  `.execute(db);
  await db.schema.dropTable('attempts_before').execute();
  await db.schema
    .createIndex('delivery_attempts_by_age')
    .on('delivery_attempts')
    .columns(['ended_at', 'delivery_seq', 'number'])
    .execute();
}

/**
 * A table in insertion order. SQLite compares `(time, seq)` by an index only if `seq` is not the rowid, so
 * the virtual `place` repeats it; it takes room in indexes only.
 */
function ordered(db: Kysely<unknown>, name: string): CreateTableBuilder<string, 'seq'> {
  const table = db.schema.createTable(name);
  return isPostgres(db)
    ? table.addColumn('seq', 'bigint', (column) => column.primaryKey().generatedByDefaultAsIdentity())
    : table
        .addColumn('seq', 'integer', (column) => column.primaryKey())
        .addColumn('place', 'integer', (column) => column.generatedAlwaysAs(sql`seq`));
}

/** SQLite continues from the highest number by itself. */
async function countOn(db: Kysely<unknown>, table: string): Promise<void> {
  if (isPostgres(db)) {
    await sql`
      select setval(pg_get_serial_sequence(${table}, 'seq'), (select max(seq) from ${sql.table(table)}))
    `.execute(db);
  }
}

async function index(db: Kysely<unknown>, table: string, name: string, columns: string[]): Promise<void> {
  const whole = [...columns, isPostgres(db) ? 'seq' : 'place'];
  await db.schema.createIndex(`${table}_${name}`).on(table).columns(whole).execute();
}

/** Indexes keep their names when their table is renamed. */
async function dropIndexes(db: Kysely<unknown>, names: string[]): Promise<void> {
  for (const name of names) {
    await db.schema.dropIndex(name).execute();
  }
}

function isPostgres(db: Kysely<unknown>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
