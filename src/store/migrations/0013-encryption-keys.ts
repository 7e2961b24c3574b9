import { script } from './script.js';

/** Encryption keys in use, now or earlier, the keys of each node, and the token keys, which outlive them. */
export const up = script(`
  create table encryption_keys (
    id ID primary key,
    -- Of concurrent rotations, one gets the next position.
    position integer not null unique,
    activated_at bigint not null, retired_at bigint
  );
  create table encryption_key_holders (
    node ID primary key, key_ids text not null, used_id ID, seen_at bigint not null
  );
  create table token_keys (purpose ID primary key, sealed text not null, created_at bigint not null);
`);
