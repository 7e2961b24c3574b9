import type { Kysely } from 'kysely';
import { runScript } from './script.js';

/** Chains of audit records, and idempotency keys per token. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runScript(
    db,
    `-- Existing records have no chain and cannot be verified.
    alter table audit_events add column chain ID;
    alter table audit_events add column seq bigint;
    alter table audit_events add column hash text;
    create unique index audit_events_by_chain on audit_events (chain, seq);

    -- SQLite cannot change a primary key. Existing keys get the empty owner and answer any token.
    alter table idempotency_keys rename to ownerless_idempotency_keys;
    drop index if exists idempotency_keys_by_age;
    create table idempotency_keys (
      owner_id ID not null, method text not null, key text not null, request_hash text not null,
      response text, created_at bigint not null,
      constraint idempotency_keys_of_owners primary key (owner_id, method, key)
    )`,
  );
  const columns = ['method', 'key', 'request_hash', 'response', 'created_at'] as const;
  await (db as Kysely<Record<string, Record<string, unknown>>>)
    .insertInto('idempotency_keys')
    .columns(['owner_id', ...columns])
    .expression((from) =>
      from.selectFrom('ownerless_idempotency_keys').select(({ val }) => [val('').as('owner_id'), ...columns]),
    )
    .execute();
  await runScript(
    db,
    `drop table ownerless_idempotency_keys;
    create index idempotency_keys_by_age on idempotency_keys (created_at)`,
  );
}
