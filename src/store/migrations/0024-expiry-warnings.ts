import { script } from './script.js';

/** Contacts of integrations, notices to mail to them, and the recorded warnings. */
export const up = script(`
  alter table integrations add column contact_email text;
  -- A warning is valid for one failing_since, which a success or a change by an operator resets.
  alter table subscriptions add column warned_failing_since bigint;
  alter table subscriptions add column warned_tenths integer default 0 not null;
  create index subscriptions_failing on subscriptions (failing_since) where failing_since is not null;
  create index application_secrets_by_end on application_secrets (expires_at);
  create table integration_notices (
    id ID primary key, kind text not null, integration_id ID not null references integrations (id),
    subscription_id ID not null, email text not null, failing_since bigint not null,
    disabled_from bigint not null,
    created_at bigint not null
  );
  create index integration_notices_by_age on integration_notices (created_at, id);
  create table expiry_warnings (
    kind ID not null, id ID not null, expires_at bigint not null, days integer not null,
    constraint expiry_warnings_key primary key (kind, id, expires_at, days)
  );
  create index expiry_warnings_by_end on expiry_warnings (expires_at);
`);
