import { script } from './script.js';

/** Chains of audit records, and idempotency keys per token. */
export const up = script(`
  -- Existing records have no chain and cannot be verified.
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
  );
  insert into idempotency_keys (owner_id, method, key, request_hash, response, created_at)
    select '', method, key, request_hash, response, created_at from ownerless_idempotency_keys;
  drop table ownerless_idempotency_keys;
  create index idempotency_keys_by_age on idempotency_keys (created_at);
`);
