import { script } from './script.js';

/** What operators register: applications, versions of earlier tables, and the audit log. */
export const up = script(`
  -- Existing rows have the empty version.
  alter table integrations add column version text default '' not null;
  alter table instance_integrations add column version text default '' not null;
  alter table api_keys add column version text default '' not null;
  alter table service_tokens add column last_used_at bigint;
  create index api_keys_by_integration on api_keys (integration_id, created_at, id);
  create index instance_integrations_by_instance on instance_integrations (instance_id, created_at, id);

  create table applications (
    id ID primary key, name text not null, type text not null, enabled integer not null,
    allowed_scopes text not null, allowed_grant_types text not null, require_pkce integer not null,
    first_party integer not null, id_token_algorithm text not null, access_token_seconds integer,
    refresh_token_seconds integer, id_token_seconds integer, post_logout_redirect_uris text not null,
    version text not null, created_at bigint not null, updated_at bigint not null
  );
  create table application_redirect_uris (
    application_id ID not null references applications (id), uri ID not null,
    instance_id ID not null references instances (id), position integer not null,
    -- An address of an application belongs to exactly one instance.
    constraint application_redirect_uris_pair primary key (application_id, uri)
  );
  create index application_redirect_uris_by_instance on application_redirect_uris (instance_id);
  create table application_secrets (
    id ID primary key, application_id ID not null references applications (id),
    hash text not null unique, created_at bigint not null, expires_at bigint, last_used_at bigint
  );
  create index application_secrets_by_application on application_secrets (application_id);

  create table audit_events (
    id ID primary key, created_at bigint not null,
    -- In byte order, so that a prefix is a range.
    type ID not null, outcome text not null,
    actor_type text not null, actor_id ID not null, subject_type text, subject_id ID,
    request_id text, remote_address text, attributes text not null
  );
  create index audit_events_by_age on audit_events (created_at, id);
  create index audit_events_by_actor on audit_events (actor_id, created_at, id);
  create index audit_events_by_subject on audit_events (subject_id, created_at, id);
`);
