import { script } from './script.js';

/** Instances, integrations, their connections, and credentials. */
export const up = script(`
  create table environment (only_row integer primary key, name text not null, created_at bigint not null);
  create table instances (
    id ID primary key, name text not null,
    version text not null, created_at bigint not null, updated_at bigint not null
  );
  create table integrations (
    id ID primary key, name text not null, created_at bigint not null, updated_at bigint not null
  );
  create table data_versions (subject_id ID primary key, version text not null);
  create table instance_integrations (
    id ID primary key, integration_id ID not null references integrations (id),
    instance_id ID not null references instances (id), configured_at bigint,
    created_at bigint not null, updated_at bigint not null,
    constraint instance_integrations_pair unique (integration_id, instance_id)
  );
  create index instance_integrations_by_age on instance_integrations (integration_id, created_at, id);
  create table api_keys (
    id ID primary key, integration_id ID not null references integrations (id),
    hash text not null unique, label text not null, hint text not null,
    created_at bigint not null, expires_at bigint, revoked_at bigint, last_used_at bigint
  );
  create table service_tokens (
    id ID primary key, kind text not null, hash text not null unique, label text not null,
    created_at bigint not null, expires_at bigint, revoked_at bigint
  );
`);
