import { script } from './script.js';

/**
 * Subscriptions, deliveries and attempts. Deliveries are the most rows: ids begin with the time, so that they
 * are appended; there are no foreign keys to look up; partial indexes cover open ones only.
 */
export const up = script(`
  create table subscriptions (
    id ID primary key,
    -- No reference: the row of a deleted subscription outlives the connection.
    instance_integration_id ID not null,
    instance_id ID not null references instances (id),
    url text not null, event_types text not null, client_ids text not null, description text not null,
    status text not null, disabled_reason text, disabled_at bigint,
    last_success_at bigint, failing_since bigint,
    version text not null, created_at bigint not null, updated_at bigint not null, deleted_at bigint
  );
  create index subscriptions_by_instance on subscriptions (instance_id);
  create index subscriptions_by_connection on subscriptions (instance_integration_id);
  create index subscriptions_by_age on subscriptions (created_at, id);
  create index subscriptions_by_deletion on subscriptions (deleted_at);
  create table subscription_secrets (
    id ID primary key, subscription_id ID not null references subscriptions (id), sealed text not null,
    created_at bigint not null, expires_at bigint
  );
  create index subscription_secrets_by_subscription on subscription_secrets (subscription_id);
  create index subscription_secrets_by_end on subscription_secrets (expires_at);

  create table deliveries (
    id ID primary key, subscription_id ID not null, event_id ID not null, event_type text not null,
    origin text not null, status text not null, attempts_begun integer not null,
    attempt_started_at bigint, lease_until bigint, next_attempt_at bigint, retry_batch_id ID,
    created_at bigint not null, ended_at bigint
  ) IN ONE TREE;
  create index deliveries_by_event on deliveries (event_id, subscription_id);
  create index deliveries_by_subscription on deliveries (subscription_id, id);
  create index deliveries_open on deliveries (status, subscription_id, attempts_begun, id)
    where status in ('PENDING', 'HELD');
  create index deliveries_under_way on deliveries (subscription_id, lease_until)
    where lease_until is not null;
  create index deliveries_to_retry on deliveries (next_attempt_at) where next_attempt_at is not null;
  create index deliveries_by_batch on deliveries (retry_batch_id) where retry_batch_id is not null;
  create table delivery_attempts (
    delivery_id ID not null, number integer not null, started_at bigint not null,
    ended_at bigint not null, outcome text not null, duration_ms integer, http_status integer,
    message text, response_start text,
    constraint delivery_attempts_pair primary key (delivery_id, number)
  ) IN ONE TREE;
  create index delivery_attempts_by_age on delivery_attempts (ended_at, delivery_id, number);

  create table retry_batches (
    id ID primary key, subscription_id ID not null, size integer not null, created_at bigint not null,
    closes_at bigint not null, handed_over_at bigint
  );
  create index retry_batches_waiting on retry_batches (closes_at, id) where handed_over_at is null;
  create index retry_batches_by_subscription on retry_batches (subscription_id, created_at);
  create index retry_batches_by_age on retry_batches (created_at);
  alter table events add column is_test integer default 0 not null;
`);
