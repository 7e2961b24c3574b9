import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../../adapters/statements/dialect.js';
import { runScript } from '../script.js';

/**
 * Events and deliveries get `seq` for their order, because new ids are random. Rows, tables and indexes use
 * `seq`; the id is in one index only, since random keys touch a page each. Existing ids stay.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await events(db);
  await deliveries(db);
  await attempts(db);
  await runScript(db, 'drop table deliveries_before');
}

const EVENT = 'type, occurred_at, instance_id, client_id, entity_type, entity_id, data, is_test';

async function events(db: Kysely<unknown>): Promise<void> {
  const { seq, place } = orderIn(db);
  await runScript(
    db,
    `alter table events rename to events_before;
    drop index events_by_age;
    drop index events_by_client;
    create table events (
      ${seq}, id ID not null, type text not null, occurred_at bigint not null,
      instance_id ID not null, client_id ID not null, entity_type text not null, entity_id ID not null,
      data text not null, is_test integer default 0 not null
    )`,
  );
  await sql`
    insert into events (seq, id, ${sql.raw(EVENT)})
    select row_number() over (order by occurred_at, id), id, ${sql.raw(EVENT)} from events_before order by 1
  `.execute(db);
  await runScript(db, 'drop table events_before');
  await countOn(db, 'events');
  await runScript(
    db,
    `create unique index events_by_id on events (id);
    create index events_by_age on events (occurred_at, ${place});
    create index events_by_client on events (client_id, occurred_at, ${place})`,
  );
}

const DELIVERY =
  'subscription_id, event_id, event_type, origin, status, attempts_begun, attempt_started_at, lease_until, next_attempt_at, retry_batch_id, created_at, ended_at';

async function deliveries(db: Kysely<unknown>): Promise<void> {
  const { seq, place } = orderIn(db);
  // Indexes keep their names when their table is renamed.
  await runScript(
    db,
    `alter table deliveries rename to deliveries_before;
    drop index deliveries_by_event;
    drop index deliveries_by_subscription;
    drop index deliveries_open;
    drop index deliveries_under_way;
    drop index deliveries_to_retry;
    drop index deliveries_by_batch;
    create table deliveries (
      ${seq}, id ID not null, subscription_id ID not null, event_seq bigint not null, event_id ID not null,
      event_type text not null, origin text not null, status text not null, attempts_begun integer not null,
      attempt_started_at bigint, lease_until bigint, next_attempt_at bigint, retry_batch_id ID,
      created_at bigint not null, ended_at bigint
    )`,
  );
  // No delivery outlives its event, so none is lost. Ids until here are in the order of age.
  await sql`
    insert into deliveries (seq, id, event_seq, ${sql.raw(DELIVERY)})
    select row_number() over (order by old.id), old.id, events.seq, ${sql.raw(DELIVERY.replaceAll(/\b(?=\w+)/g, 'old.'))}
    from deliveries_before as old join events on events.id = old.event_id order by 1
  `.execute(db);
  await countOn(db, 'deliveries');
  // SQLite appends the rowid to each index entry.
  const rowid = isPostgres(db) ? ', seq' : '';
  await runScript(
    db,
    `create unique index deliveries_by_id on deliveries (id);
    create index deliveries_by_event on deliveries (event_seq, subscription_id);
    create index deliveries_by_age on deliveries (created_at, ${place});
    create index deliveries_by_subscription on deliveries (subscription_id, created_at, ${place});
    create index deliveries_open on deliveries (status, subscription_id, attempts_begun${rowid})
      where status in ('PENDING', 'HELD');
    create index deliveries_under_way on deliveries (subscription_id, lease_until)
      where lease_until is not null;
    create index deliveries_to_retry on deliveries (next_attempt_at) where next_attempt_at is not null;
    create index deliveries_by_batch on deliveries (retry_batch_id) where retry_batch_id is not null`,
  );
}

const ATTEMPT = 'number, started_at, ended_at, outcome, duration_ms, http_status, message, response_start';

async function attempts(db: Kysely<unknown>): Promise<void> {
  await runScript(
    db,
    `alter table delivery_attempts rename to attempts_before;
    drop index delivery_attempts_by_age;
    create table delivery_attempts (
      delivery_seq bigint not null, number integer not null,
      started_at bigint not null, ended_at bigint not null, outcome text not null,
      duration_ms integer, http_status integer, message text, response_start text,
      constraint delivery_attempts_key primary key (delivery_seq, number)
    ) IN ONE TREE`,
  );
  await sql`
    insert into delivery_attempts (delivery_seq, ${sql.raw(ATTEMPT)})
    select deliveries.seq, ${sql.raw(ATTEMPT.replaceAll(/\b(?=\w+)/g, 'old.'))}
    from attempts_before as old join deliveries on deliveries.id = old.delivery_id order by 1, 2
  `.execute(db);
  await runScript(
    db,
    `drop table attempts_before;
    create index delivery_attempts_by_age on delivery_attempts (ended_at, delivery_seq, number)`,
  );
}

/**
 * The columns of the order of insertion. SQLite compares `(time, seq)` by an index only if `seq` is not the
 * rowid, so the virtual `place` repeats it; it takes room in indexes only.
 */
function orderIn(db: Kysely<unknown>): { seq: string; place: string } {
  return isPostgres(db)
    ? { seq: 'seq bigint generated by default as identity primary key', place: 'seq' }
    : { seq: 'seq integer primary key, place integer generated always as (seq)', place: 'place' };
}

/** SQLite continues from the highest number by itself. */
async function countOn(db: Kysely<unknown>, table: string): Promise<void> {
  if (isPostgres(db)) {
    await sql`
      select setval(pg_get_serial_sequence(${table}, 'seq'), (select max(seq) from ${sql.table(table)}))
    `.execute(db);
  }
}
