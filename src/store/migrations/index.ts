import * as directoryRoots from './0001-directory-roots.js';
import * as directory from './0002-directory.js';
import * as operator from './0003-operator.js';
import * as signOn from './0004-sign-on.js';
import * as webhooks from './0005-webhooks.js';
import * as boundedSignOn from './0008-bounded-sign-on.js';
import * as orderOfEvents from './0012-order-of-events.js';
import * as contractEmails from './0017-contract-emails.js';
import * as sequenceOfChanges from './0030-sequence-of-changes.js';
import * as livesOfServers from './0034-lives-of-servers.js';
import * as knownEmails from './0040-known-emails.js';
import { type Statements, script } from './script.js';
import type { Step } from './step.js';

const YEAR_MS = 365 * 86_400_000;

/** A step of a few statements, which needs no file. */
const step = (statements: Statements): Step => ({ up: script(statements) });
const onlyOnPostgres = (statement: string) => step((onPostgres) => (onPostgres ? statement : ''));

/**
 * By name. What a released migration runs is never edited. Nodes of the release before serve the database
 * after it, unless the migration says what they are `required` to know.
 */
export const migrations: Record<string, Step> = {
  '0001-directory-roots': directoryRoots,
  '0002-directory': directory,
  '0003-operator': operator,
  '0004-sign-on': signOn,
  '0005-webhooks': webhooks,
  '0008-bounded-sign-on': boundedSignOn,
  /** Addresses that await their proof, and notices to mail. */
  '0009-email-changes': step(`
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
  `),
  /** The only instance of a platform token; existing tokens reach all. */
  '0010-service-tokens': step('alter table service_tokens add column instance_id ID'),
  /** Chains of audit records, and idempotency keys per token. */
  '0011-audit-chains': step(`
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
  `),
  '0012-order-of-events': orderOfEvents,
  /** Encryption keys in use, now or earlier, those of each node, and the token keys, which outlive them. */
  '0013-encryption-keys': step(`
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
  `),
  /** Families of refresh tokens end; existing ones a year after their last use. Grants name their session. */
  '0014-ends-of-grants': step(`
    alter table applications add column refresh_family_seconds integer;
    alter table grants add column refresh_ends_at bigint;
    update grants set refresh_ends_at = rotated_at + ${YEAR_MS} where refresh_expires_at is not null;
    alter table applications add column sign_out_ends_tokens integer default 0 not null;
    alter table authorization_codes add column session_id ID;
    alter table grants add column session_id ID;
  `),
  /** Successors of a token share its idempotency keys; existing tokens use their own. */
  '0015-token-lines': step('alter table service_tokens add column owner_id ID'),
  /**
   * Relays claim second and third attempts too, `grace_ms` after `next_attempt_at`; the index replaces that
   * of `next_attempt_at`. Nodes that do not know `grace_ms` write rows that are claimed when they are due.
   */
  '0016-later-attempts': step(
    (onPostgres) => `
    alter table deliveries add column grace_ms bigint default 0 not null;
    drop index deliveries_to_retry;
    -- SQLite ends each entry of an index with the number of its row.
    create index deliveries_later on deliveries (subscription_id, (coalesce(next_attempt_at, 0) + grace_ms)${onPostgres ? ', seq' : ''})
    where next_attempt_at is not null and status = 'PENDING'
  `,
  ),
  '0017-contract-emails': contractEmails,
  /**
   * Events get the order of their entity's changes, of which `occurred_at` can repeat: the time or, if
   * an earlier event of the entity has this or a greater sequence, one more than the greatest.
   */
  '0018-sequences': step(`
    alter table events add column sequence bigint;
    update events set sequence = ordered.sequence from (
      select seq, place + max(occurred_at - place) over (partition by entity_id order by seq) as sequence from (
        select seq, entity_id, occurred_at, row_number() over (partition by entity_id order by seq) as place from events
      ) as placed
    ) as ordered where ordered.seq = events.seq;
    create index events_by_entity on events (entity_id, sequence);
  `),
  /** A session remembers which context its person chose. */
  '0019-contexts-of-sessions': step('alter table sessions add column contexts text'),
  /** Applications have a logo, a privacy policy and terms of service. */
  '0020-links-of-applications': step(`
    alter table applications add column logo_uri text;
    alter table applications add column policy_uri text;
    alter table applications add column tos_uri text;
  `),
  /** Applications have an address where signing in begins. */
  '0021-ways-in': step('alter table applications add column initiate_login_uri text'),
  /** Events name the request of their write. Earlier ones, and those of earlier nodes, name none. */
  '0022-requests-of-events': step('alter table events add column request_id text'),
  /** The active run of the purge, and indexes by which it finds expired rows without reading others. */
  '0023-runs-of-maintenance': step(`
    create table maintenance_runs (job ID primary key, run text not null, ends_at bigint not null);
    create index api_keys_by_end on api_keys (expires_at);
    create index api_keys_by_revocation on api_keys (revoked_at);
    create index service_tokens_by_end on service_tokens (expires_at);
    create index service_tokens_by_revocation on service_tokens (revoked_at);
    create index signing_keys_by_retirement on signing_keys (retired_at);
  `),
  /** Contacts of integrations, notices to mail to them, and the recorded warnings. */
  '0024-expiry-warnings': step(`
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
  `),
  /** Events name the span of their write, if it was traced. */
  '0025-traces-of-events': step('alter table events add column traceparent text'),
  /** The environment has the issuer of its tokens, and each running domain node the one of its settings. */
  '0026-issuers': step(`
    alter table environment add column issuer text;
    alter table encryption_key_holders add column issuer text;
  `),
  /**
   * Counts of calls that nodes share. A crash of the database, or a fail-over to a replica, may lose them:
   * without a log to sync, and with room in each page for new versions of its rows.
   */
  '0027-call-counts': step(
    (onPostgres) => `
    create ${onPostgres ? 'unlogged' : ''} table call_counts (
      subject ID primary key, started_at bigint not null, ends_at bigint not null, used bigint not null
    ) ${onPostgres ? 'with (fillfactor = 50)' : ''}
  `,
  ),
  /** When the last run of a job ended, so that of several workers with timers one runs it. */
  '0028-ends-of-maintenance': step('alter table maintenance_runs add column ended_at bigint'),
  '0030-sequence-of-changes': sequenceOfChanges,
  /** Which migrations a node must know to serve the database, and the last one that each node knows. */
  '0032-required-migrations': step(`
    create table required_migrations (name ID primary key);
    alter table encryption_key_holders add column newest_migration text;
  `),
  /** Each start asks for accounts that share a mailbox. They are few, and the index has only them. */
  '0033-shared-mailboxes': step(`
    create index accounts_sharing_mailboxes on accounts (id, same_mailbox_as) where same_mailbox_as is not null;
  `),
  '0034-lives-of-servers': livesOfServers,
  /**
   * Each delivery leaves two dead versions, in all indexes. By default PostgreSQL removes them once they are
   * a fifth of the table, which keeps the deliveries of weeks: claims would walk over those of days.
   */
  '0035-vacuum-of-deliveries': onlyOnPostgres(
    'alter table deliveries set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)',
  ),
  /** Lists leave out deleted users and offboarded workers, of which a client has more each year. */
  '0036-present-members': step(`
    create index users_present on users (client_id, created_at, id) where status <> 'DELETED';
    create index workers_active on workers (client_id, created_at, id) where offboarded_at is null;
  `),
  /** A load leaves out removed entities, of which an instance has more each year. */
  '0037-present-changes': step(`
    create index changes_present on changes (instance_id, position, entity_type, entity_id) where removed = 0
  `),
  /** Accounts are found by the beginning of their address. Only in byte order is that a range of an index. */
  '0038-beginnings-of-addresses': onlyOnPostgres(
    'create index accounts_by_address on accounts (email_key collate "C")',
  ),
  /** A rotation shortens the life of a credential, and a later successor still gets the whole one. */
  '0039-rotations': step(`
    alter table api_keys add column rotated_at bigint;
    alter table api_keys add column intended_expires_at bigint;
    alter table service_tokens add column rotated_at bigint;
    alter table service_tokens add column intended_expires_at bigint;
  `),
  '0040-known-emails': knownEmails,
  /** Lists of the clients of all instances, oldest first. */
  '0041-clients-in-order': step('create index clients_in_order on clients (created_at, id)'),
  /** Earlier releases stored ends that protobuf cannot represent: later than the end of the year 9999. */
  '0042-latest-ends': step(`
    update api_keys set expires_at = 253402300799999 where expires_at > 253402300799999;
    update service_tokens set expires_at = 253402300799999 where expires_at > 253402300799999
  `),
  /** Each sign-on reads the present users and workers of a person. The former ones have no limit. */
  '0043-present-by-person': step(`
    create index users_of_person on users (account_id) where status <> 'DELETED';
    create index workers_of_person on workers (account_id) where offboarded_at is null;
  `),
};

export const newestMigration = Object.keys(migrations).at(-1) as string;
