import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../adapters/statements/dialect.js';
import { runScript } from './script.js';
import { TRIGGERS, type Trigger } from './triggers-0030.js';

/**
 * `changes` has a row for each entity that integrations see, also for a removed one, with the position of its
 * newest change. On SQLite a position is the next number: there is one writer. On PostgreSQL it is the id of
 * the transaction, and readers stop before the oldest one that is not over, because a smaller one can commit
 * later than a greater one.
 *
 * Triggers write the rows, because a node of an earlier release may write beside this one during an upgrade.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runScript(db, tables);
  const { words, trigger, before, digests } = dialectOf(db);
  const statements = [
    ...before,
    // The triggers lock their tables, and come before the rows are read: so no write in between is missed.
    ...TRIGGERS.flatMap((each) => trigger(each, marking(each.changed, words))),
    marking(PRESENT, { ...words, now: 'changed.changed_at' }),
    `insert into change_digests (client_id, entity_type, entities, digest)
      select client_id, entity_type, sum(1 - removed), sum((1 - removed) * version) % ${MODULUS}
      from changes group by client_id, entity_type`,
    ...digests,
  ];
  for (const statement of statements) {
    await sql.raw(statement).execute(db);
  }
}

/** For a later step: the trigger finds the changed entities by another query. */
export async function changeTrigger(db: Kysely<unknown>, name: string, changed: string): Promise<void> {
  const { words, changedTrigger } = dialectOf(db);
  for (const trigger of TRIGGERS.filter((each) => each.name === name)) {
    for (const statement of changedTrigger(trigger, marking(changed, words))) {
      await sql.raw(statement).execute(db);
    }
  }
}

function dialectOf(db: Kysely<unknown>): Dialect {
  return isPostgres(db) ? onPostgres : onSqlite;
}

/** Of versions and digests: a sum of two is exact in every language, and one of millions fits 64 bits. */
const VERSIONS = 2 ** 40;
const MODULUS = 2 ** 52;

/**
 * On PostgreSQL, the share of statements that fold rows of digests: so a reader sums some dozens. A
 * transaction folds at most once, because each time it goes through all rows that it has folded before.
 */
const FOLDED = 1 / 32;

/** Large transactions leave as many rows as they have changed; this many take 17 ms of a later write. */
const MOST_FOLDED = 10_000;

function tables(onPostgres: boolean): string {
  // On SQLite it has all columns of a change, so that a page of changes is read from one place.
  const rest = onPostgres ? '' : ', client_id, version, removed, changed_at';
  return `
    create table changes (
      entity_type ID not null, entity_id ID not null, client_id ID not null, instance_id ID not null,
      position bigint not null, version bigint not null, removed integer not null, changed_at bigint not null,
      constraint changes_entity primary key (entity_type, entity_id)
    ) IN ONE TREE;
    create index changes_in_order on changes (instance_id, position, entity_type, entity_id${rest});
    -- For the question which instances changed since.
    create index changes_of_all on changes (position, instance_id);
    create table change_digests (
      client_id ID not null, entity_type ID not null, entities bigint not null, digest bigint not null,
      constraint change_digests_pair primary key (client_id, entity_type)
    );
    create table change_lives (life ID primary key, last_position bigint);
    insert into change_lives (life) values ('${randomBytes(6).toString('hex')}');
    create table change_feed (
      only_row integer primary key, last_position bigint not null, xid_offset bigint not null
    );
    insert into change_feed (only_row, last_position, xid_offset) values (1, 1, 0)`;
}

/** All that exists. */
const PRESENT = [
  "select 'client' as entity_type, id as entity_id, id as client_id, 0 as removed, updated_at as changed_at from clients",
  "select 'jobTitles', id, id, 0, updated_at from clients",
  "select 'unitType', id, client_id, 0, updated_at from unit_types",
  "select 'unit', id, client_id, 0, updated_at from units",
  "select 'location', id, client_id, 0, updated_at from locations",
  "select 'worker', id, client_id, case when offboarded_at is null then 0 else 1 end, updated_at from workers",
  "select 'user', id, client_id, case when status = 'DELETED' then 1 else 0 end, updated_at from users",
].join(' union all ');

interface Words {
  position: string;
  version: string;
  now: string;
}

/** Gives the changed entities a new position and version. */
function marking(changed: string, { position, version, now }: Words): string {
  return `insert into changes
      (entity_type, entity_id, client_id, instance_id, position, version, removed, changed_at)
    select changed.entity_type, changed.entity_id, changed.client_id, clients.instance_id,
      ${position}, ${version}, changed.removed, ${now}
    from (${changed}) as changed inner join clients on clients.id = changed.client_id
    where true
    on conflict (entity_type, entity_id) do update set
      position = excluded.position, version = excluded.version, removed = excluded.removed,
      changed_at = excluded.changed_at`;
}

interface Dialect {
  words: Words;
  before: readonly string[];
  trigger(trigger: Trigger, statement: string): readonly string[];
  changedTrigger(trigger: Trigger, statement: string): readonly string[];
  /** Keep the digests equal to the rows: the sum of the versions of a client's entities of one type. */
  digests: readonly string[];
}

const onSqlite: Dialect = {
  words: {
    position: '(select last_position from change_feed)',
    version: `abs(random() % ${VERSIONS})`,
    now: "cast(unixepoch('subsec') * 1000 as integer)",
  },
  before: [],
  trigger: ({ name, table, event, when }, statement) => [
    `create trigger changes_${name} after ${event} on ${table} for each row ${when ? `when (${when})` : ''} begin
      update change_feed set last_position = last_position + 1;
      ${statement};
    end`,
  ],
  changedTrigger: (trigger, statement) => [
    `drop trigger changes_${trigger.name}`,
    ...onSqlite.trigger(trigger, statement),
  ],
  digests: [
    `create trigger changes_counted after insert on changes for each row begin
      insert into change_digests (client_id, entity_type, entities, digest)
      values (new.client_id, new.entity_type, 1 - new.removed, (1 - new.removed) * new.version)
      on conflict (client_id, entity_type) do update set
        entities = entities + excluded.entities, digest = (digest + excluded.digest) % ${MODULUS};
    end`,
    `create trigger changes_recounted after update on changes for each row begin
      update change_digests set entities = entities + old.removed - new.removed,
        digest = (digest + (1 - new.removed) * new.version - (1 - old.removed) * old.version + ${MODULUS}) % ${MODULUS}
      where client_id = new.client_id and entity_type = new.entity_type;
    end`,
  ],
};

const functionOf = (name: string, statement: string) =>
  `function changes_${name}() returns trigger language plpgsql as $$ begin ${statement}; return null; end $$`;

const onPostgres: Dialect = {
  words: {
    position: '(select change_position())',
    version: `floor(random() * ${VERSIONS})::bigint`,
    now: 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint',
  },
  before: [
    `create function change_position() returns bigint language sql stable as
      'select pg_current_xact_id()::text::bigint + xid_offset from change_feed'`,
  ],
  trigger: ({ name, table, event, when }, statement) => [
    `create ${functionOf(name, statement)}`,
    `create trigger changes_${name} after ${event} on ${table} for each row ${when ? `when (${when})` : ''}
      execute function changes_${name}()`,
  ],
  // Only its function, which locks no table.
  changedTrigger: ({ name }, statement) => [`create or replace ${functionOf(name, statement)}`],
  // Rows that are summed when they are read: writers of one client do not wait for each other, and a
  // transaction of thousands of statements updates no row thousands of times, which becomes slow.
  digests: [
    'alter table change_digests drop constraint change_digests_pair',
    'create index change_digests_of_client on change_digests (client_id)',
    // Without a key, PostgreSQL would refuse the deletes of a fold once the table has a publication.
    'alter table change_digests replica identity full',
    // Rows that another transaction folds are left to it.
    `create function change_digests_folded(clients text[]) returns void language sql as $$
      with gone as (
        delete from change_digests where ctid = any (array(
          select ctid from change_digests where client_id = any (clients) limit ${MOST_FOLDED} for update skip locked
        )) returning client_id, entity_type, entities, digest
      )
      insert into change_digests (client_id, entity_type, entities, digest)
      select client_id, entity_type, sum(entities), mod(sum(digest), ${MODULUS})
      from gone group by client_id, entity_type $$`,
    appending(
      'changes_counted',
      'select client_id, entity_type, 1 - removed, (1 - removed) * version from added',
    ),
    `create trigger changes_counted after insert on changes referencing new table as added
      for each statement execute function changes_counted()`,
    appending(
      'changes_recounted',
      `select client_id, entity_type, 1 - removed, (1 - removed) * version from after
        union all
        select client_id, entity_type, removed - 1, (removed - 1) * version from before`,
    ),
    `create trigger changes_recounted after update on changes referencing old table as before new table as after
      for each statement execute function changes_recounted()`,
  ],
};

/** A trigger function that adds a row for each client and type, and sometimes folds those of its clients. */
function appending(name: string, differences: string): string {
  return `create function ${name}() returns trigger language plpgsql as $$
    declare clients text[];
    begin
      with added_rows as (
        insert into change_digests (client_id, entity_type, entities, digest)
        select client_id, entity_type, sum(entities), mod(sum(digest), ${MODULUS})
        from (${differences}) as difference (client_id, entity_type, entities, digest)
        group by client_id, entity_type
        returning client_id
      )
      select array_agg(distinct client_id) from added_rows into clients;
      if clients is not null and random() < ${FOLDED} and coalesce(current_setting('changes.folded', true), '') = '' then
        perform set_config('changes.folded', 'in this transaction', true);
        perform change_digests_folded(clients);
      end if;
      return null;
    end $$`;
}
