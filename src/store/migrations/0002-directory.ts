import { script } from './script.js';

/** Clients with users, workers and organization. Lists are read oldest first, so each has such an index. */
export const up = script(`
  create table accounts (
    id ID primary key, worker_profile_id ID not null unique,
    email text not null, email_key text not null unique, email_verified_at bigint,
    first_name text, last_name text, disabled_at bigint,
    version text not null, created_at bigint not null, updated_at bigint not null
  );

  -- Every part of an address may be unknown.
  create table clients (
    address1 text, address2 text, city text, iso_country_code text, postal_code text, zone_code text,
    id ID primary key, instance_id ID not null references instances (id), name text not null,
    version text not null, created_at bigint not null, updated_at bigint not null
  );
  create index clients_by_age on clients (instance_id, created_at, id);
  create table roles (
    id ID primary key, client_id ID not null references clients (id), name text not null,
    built_in integer not null, permissions text not null,
    version text not null, created_at bigint not null,
    constraint roles_name unique (client_id, name)
  );

  create table unit_types (
    id ID primary key, client_id ID not null references clients (id), name text not null,
    version text not null, created_at bigint not null, updated_at bigint not null,
    constraint unit_types_name unique (client_id, name)
  );
  create table units (
    id ID primary key, client_id ID not null references clients (id),
    unit_type_id ID not null references unit_types (id), parent_id ID references units (id),
    name text not null, unit_code text, description text,
    version text not null, created_at bigint not null, updated_at bigint not null
  );
  create index units_by_age on units (client_id, created_at, id);
  create index units_by_parent on units (parent_id);
  create index units_by_type on units (unit_type_id);
  create table locations (
    address1 text, address2 text, city text, iso_country_code text, postal_code text, zone_code text,
    id ID primary key, client_id ID not null references clients (id), name text not null,
    version text not null, created_at bigint not null, updated_at bigint not null,
    constraint locations_name unique (client_id, name)
  );
  create index locations_by_age on locations (client_id, created_at, id);
  create table job_titles (
    client_id ID not null references clients (id), title ID not null,
    constraint job_titles_pair primary key (client_id, title)
  );

  create table users (
    id ID primary key, client_id ID not null references clients (id),
    account_id ID not null references accounts (id),
    first_name text, last_name text, full_name text, status text not null,
    manager_id ID references users (id), role_id ID references roles (id),
    version text not null, created_at bigint not null, updated_at bigint not null
  );
  create index users_by_age on users (client_id, created_at, id);
  create index users_by_account on users (account_id);
  create index users_by_manager on users (manager_id);
  create index users_by_role on users (role_id);

  create table workers (
    address1 text, address2 text, city text, iso_country_code text, postal_code text, zone_code text,
    id ID primary key, client_id ID not null references clients (id),
    account_id ID not null references accounts (id),
    first_name text not null, last_name text not null, full_name text not null,
    email text not null, phone text, job_titles text not null,
    location_id ID references locations (id), primary_unit_id ID references units (id),
    offboarded_at bigint,
    version text not null, created_at bigint not null, updated_at bigint not null
  );
  create index workers_by_age on workers (client_id, created_at, id);
  create index workers_by_account on workers (account_id);
  create index workers_by_location on workers (location_id);
  -- For the deletion of a unit, which looks for references.
  create index workers_by_primary_unit on workers (primary_unit_id);
  create table worker_units (
    worker_id ID not null references workers (id), unit_id ID not null references units (id),
    position integer not null,
    constraint worker_units_pair primary key (worker_id, unit_id)
  );
  create index worker_units_by_unit on worker_units (unit_id);

  -- The by-products of a write: events, and answers to repeated calls.
  create table events (
    id ID primary key, type text not null, occurred_at bigint not null, instance_id ID not null,
    client_id ID not null, entity_type text not null, entity_id ID not null, data text not null
  );
  create index events_by_age on events (occurred_at, id);
  create index events_by_client on events (client_id, occurred_at);
  create table idempotency_keys (
    method text not null, key text not null, request_hash text not null, response text,
    created_at bigint not null,
    constraint idempotency_keys_pair primary key (method, key)
  );
  create index idempotency_keys_by_age on idempotency_keys (created_at);
`);
