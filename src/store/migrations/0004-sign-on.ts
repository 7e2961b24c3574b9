import { script } from './script.js';

/** Sign-on: passwords, links, sessions, codes, grants and signing keys. */
export const up = script(`
  create table passwords (
    account_id ID primary key references accounts (id), hash text not null, set_at bigint not null
  );
  create table account_links (
    token_hash ID primary key, account_id ID not null references accounts (id),
    purpose text not null, email_key text not null,
    created_at bigint not null, expires_at bigint not null, ended_at bigint
  );
  create index account_links_by_account on account_links (account_id);
  create index account_links_by_end on account_links (expires_at);
  create index account_links_by_end_of_use on account_links (ended_at);

  create table sessions (
    id ID primary key, token_hash ID not null unique, account_id ID references accounts (id),
    authenticated_at bigint, last_seen_at bigint not null, expires_at bigint not null
  );
  create index sessions_by_account on sessions (account_id);
  create index sessions_by_end on sessions (expires_at);
  create index sessions_by_last_seen on sessions (last_seen_at);
  create table interactions (
    token_hash ID primary key,
    -- No reference: an interaction outlives its session, to say how to begin again.
    session_id ID not null,
    request text not null, progress text not null, expires_at bigint not null, finished_at bigint
  );
  create index interactions_by_end on interactions (expires_at);
  create table consents (
    account_id ID not null references accounts (id),
    application_id ID not null references applications (id),
    instance_id ID not null references instances (id), scopes text not null, given_at bigint not null,
    constraint consents_key primary key (account_id, application_id, instance_id)
  );
  create table login_contexts (
    account_id ID not null references accounts (id), instance_id ID not null references instances (id),
    user_type text not null, client_id ID not null references clients (id), used_at bigint not null,
    constraint login_contexts_pair primary key (account_id, instance_id)
  );

  create table authorization_codes (
    hash ID primary key, grant_id ID not null, application_id ID not null, account_id ID not null,
    instance_id ID not null, redirect_uri text not null, scopes text not null, code_challenge text,
    nonce text, requested_claims text not null, context_user_type text not null,
    context_client_id ID not null, authenticated_at bigint not null, status text not null,
    minute bigint not null, issued_at bigint not null, expires_at bigint not null
  );
  create index authorization_codes_by_minute on authorization_codes (minute);
  create index authorization_codes_by_end on authorization_codes (expires_at);
  create index authorization_codes_by_account on authorization_codes (account_id);
  create table code_minutes (minute bigint primary key, expires_at bigint not null, watched_at bigint);
  create index code_minutes_by_end on code_minutes (expires_at);
  create table grants (
    id ID primary key, application_id ID not null, account_id ID not null, instance_id ID not null,
    scopes text not null, authenticated_at bigint not null, generation integer not null,
    rotated_at bigint not null, refresh_expires_at bigint, expires_at bigint not null, revoked_at bigint
  );
  create index grants_by_account on grants (account_id);
  create index grants_by_end on grants (expires_at);

  create table attempt_counts (subject ID primary key, count integer not null, ends_at bigint not null);
  create index attempt_counts_by_end on attempt_counts (ends_at);
  create table known_addresses (
    account_id ID not null references accounts (id), address_hash ID not null,
    expires_at bigint not null,
    constraint known_addresses_pair primary key (account_id, address_hash)
  );
  create index known_addresses_by_end on known_addresses (expires_at);

  create table signing_keys (
    kid ID primary key, algorithm text not null, public_jwk text not null, sealed_private_key text not null,
    created_at bigint not null, activates_at bigint not null,
    superseded_at bigint, retires_at bigint, retired_at bigint
  );
`);
