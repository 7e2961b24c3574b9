import { script } from './script.js';

/** Addresses that await their proof, and notices to mail. */
export const up = script(`
  create table email_changes (
    account_id ID not null references accounts (id),
    -- No reference: it is a client or the platform.
    asker ID not null,
    email text not null, asked_at bigint not null, link_hash ID unique, expires_at bigint not null,
    constraint email_changes_pair primary key (account_id, asker)
  );
  create index email_changes_by_end on email_changes (expires_at);
  create table account_notices (
    id ID primary key, kind text not null, account_id ID not null references accounts (id),
    email text not null, created_at bigint not null
  );
  create index account_notices_by_age on account_notices (created_at, id);
`);
