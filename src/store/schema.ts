import type { Generated } from 'kysely';
import type { ConsentKey, Grant, LoginContext, Session } from '../domain/credentials/access.js';
import type { EmailChange } from '../domain/credentials/email-changes.js';
import type { AccountLink } from '../domain/credentials/links.js';
import type { AccountNotice, IntegrationNotice } from '../domain/credentials/notices.js';
import type { Address } from '../domain/directory/names.js';
import type { EntityType } from '../domain/directory/stores.js';
import type { AuditEvent } from '../domain/operator/audit.js';
import type {
  Application,
  ApplicationSecret,
  RedirectUri,
  TokenLifetimes,
} from '../domain/operator/rows/applications.js';
import type { KeyHolder, UsedEncryptionKey } from '../domain/operator/rows/encryption-keys.js';
import type { ApiKey, InstanceIntegration, Integration } from '../domain/operator/rows/integrations.js';
import type { ServiceToken } from '../domain/operator/rows/service-tokens.js';
import type {
  Client,
  Instance,
  Location,
  Role,
  Unit,
  UnitType,
} from '../domain/platform/rows/organization.js';
import type { Account, User, Worker } from '../domain/platform/rows/people.js';
import type { AuthorizationCode } from '../domain/sign-on/authorization/codes.js';
import type { SigningKey } from '../domain/sign-on/keys/signing-keys.js';
import type { Delivery, DeliveryAttempt } from '../domain/webhooks/deliveries.js';
import type { StoredEvent } from '../domain/webhooks/event-body.js';
import type { SubscriptionSecret } from '../domain/webhooks/subscriptions/rows.js';
import type { Subscription, SubscriptionStatus } from '../domain/webhooks/subscriptions/subscription.js';

/** The tables after the newest migration. Times are milliseconds since 1970; hashes are base64url. */
export interface Schema extends SignOnSchema, WebhooksSchema, ChangesSchema {
  environment: EnvironmentTable;
  instances: Columns<Instance>;
  integrations: Columns<Integration>;
  /**
   * A random value for each integration, instance and client, which every change of its data replaces. Rows
   * of other subjects, such as accounts and applications, are made by locks, and keep their value.
   */
  data_versions: { subject_id: string; version: string };
  instance_integrations: Columns<Omit<InstanceIntegration, 'instanceName'>>;
  api_keys: Columns<ApiKey> & HashColumn;
  service_tokens: Columns<ServiceToken> & HashColumn;
  accounts: AccountsTable;
  clients: Columns<Omit<Client, 'address'> & Address>;
  roles: Columns<Role>;
  users: Columns<User>;
  unit_types: Columns<UnitType>;
  units: Columns<Omit<Unit, 'parentUnitId'>> & { parent_id: string | null };
  locations: Columns<Omit<Location, 'address'> & Address>;
  job_titles: { client_id: string; title: string };
  workers: WorkersTable;
  /** With the order of the units of a worker. */
  worker_units: { worker_id: string; unit_id: string; position: number };
  events: EventsTable;
  idempotency_keys: IdempotencyKeysTable;
  applications: Columns<Omit<Application, 'tokenLifetimes' | 'redirectUris' | 'secrets'> & TokenLifetimes>;
  /** In the order of registration. */
  application_redirect_uris: Columns<RedirectUri> & { application_id: string; position: number };
  application_secrets: Columns<ApplicationSecret> & HashColumn & { application_id: string };
  audit_events: AuditEventsTable;
  maintenance_runs: MaintenanceRunsTable;
  /** Calls in a window over all nodes, by hashed caller. Empty on SQLite, which has one node. */
  call_counts: { subject: string; started_at: number; ends_at: number; used: number };
  /** The keys themselves are outside the database. */
  encryption_keys: Columns<UsedEncryptionKey>;
  encryption_key_holders: EncryptionKeyHoldersTable;
  /** The keys of refresh tokens, forms, interactions, idempotency, throttles, audit and cursors, sealed. */
  token_keys: { purpose: string; sealed: string; created_at: number };
  /** What a node must know to serve the database, from migration 0032. */
  required_migrations: { name: string };
  integration_notices: Columns<IntegrationNotice>;
  /** Recorded warnings of an expiry: one row for each threshold in days. */
  expiry_warnings: { kind: string; id: string; expires_at: number; days: number };
}

/** The hash of a secret; the secret itself is not stored. */
interface HashColumn {
  hash: string;
}

/** One row: the environment of this database. */
interface EnvironmentTable {
  only_row: 1;
  name: 'live' | 'demo';
  created_at: number;
  /** SIGN_ON_URL of the last start; null before the first one. */
  issuer: string | null;
}

interface AccountsTable extends Columns<Account> {
  /** Unique: it identifies the mailbox. */
  email_key: string;
  /** What the contracts show in place of `email`; null where they accept it. */
  contract_email: string | null;
  /** The other account of the mailbox, which has its key; then `email_key` is this exact address. */
  same_mailbox_as: string | null;
}

interface WorkersTable
  extends Columns<Omit<Worker, 'address' | 'units' | 'primaryUnit' | 'location'> & Address> {
  contract_email: string | null;
  location_id: string | null;
  primary_unit_id: string | null;
}

/** One row per event, from the transaction of its change. */
interface EventsTable extends Columns<Omit<StoredEvent, 'isTest' | 'traceparent'>> {
  /** The order of recording. */
  seq: Generated<number>;
  is_test: Generated<0 | 1>;
  traceparent: Generated<string | null>;
}

/** The answer to a call with an idempotency key, for repetitions. */
interface IdempotencyKeysTable {
  /** The token that used the key, or the first of its line; empty for older rows, which answer any token. */
  owner_id: string;
  method: string;
  key: string;
  request_hash: string;
  /** Base64, or `FORGOTTEN`; null inside the transaction that first uses the key. */
  response: string | null;
  created_at: number;
}

/** A row per audit record. Ids, never a secret. */
interface AuditEventsTable extends Columns<Omit<AuditEvent, 'actor' | 'subject'>> {
  actor_type: string;
  actor_id: string;
  subject_type: string | null;
  subject_id: string | null;
  /** The hash chain of the record; null for older records. */
  chain: string | null;
  /** Its place in the chain, from 1. */
  seq: number | null;
  /** Covers the record and all before it. */
  hash: string | null;
}

/** The last run of a job that allows one run at a time. */
interface MaintenanceRunsTable {
  job: string;
  run: string;
  /** Until then no other run begins. */
  ends_at: number;
  /** When a run completed last. Releases that do not know the column delete the row instead. */
  ended_at: number | null;
}

interface EncryptionKeyHoldersTable extends Columns<KeyHolder> {
  /** The last migration that its version knows. */
  newest_migration: string | null;
  seen_at: number;
}

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';

/**
 * Literal texts stay as they are. Patterns, such as those of ids, become `string`: `{}` extends a record
 * whose keys are a pattern, and not one whose keys are literals.
 */
type StoredText<Text extends string> = Record<never, never> extends Record<Text, unknown> ? string : Text;

/** Booleans are 1 and 0; lists and objects are texts, of JSON unless the table says otherwise. */
type Stored<Value> = Value extends boolean
  ? Value extends true
    ? 1
    : 0
  : Value extends object
    ? string
    : Value extends string
      ? StoredText<Value>
      : Value;

/** The columns of a table that stores all these members of a domain object. */
type Columns<Members> = {
  [Name in keyof Members & string as SnakeCase<Name>]: Stored<Members[Name]>;
};

/** Tables of sign-on, from migrations 0004 and 0009. */
interface SignOnSchema {
  /** Argon2id in its standard text form, with parameters and salt. */
  passwords: { account_id: string; hash: string; set_at: number };
  account_links: Columns<AccountLink>;
  email_changes: Columns<EmailChange>;
  account_notices: Columns<AccountNotice>;
  sessions: SessionsTable;
  /** An authorization or sign-out that has ended, so that it ends once. Those in progress have no row. */
  finished_interactions: { id: string; expires_at: number };
  /** The scopes are a JSON array. */
  consents: Columns<ConsentKey> & { scopes: string; given_at: number };
  /** The last context of a person on an instance. */
  login_contexts: Columns<LoginContext> & { account_id: string; instance_id: string; used_at: number };
  authorization_codes: AuthorizationCodesTable;
  code_minutes: CodeMinutesTable;
  /** The scopes are separated by spaces, as in tokens. */
  grants: Columns<Grant>;
  attempt_counts: AttemptCountsTable;
  signing_keys: Columns<SigningKey>;
}

interface SessionsTable extends Columns<Omit<Session, 'account'>> {
  account_id: string | null;
  authenticated_at: number | null;
  /** The contexts that the person chose since the sign-in, in JSON; null without one. */
  contexts: string | null;
}

/** The scopes are separated by spaces, as in tokens. */
interface AuthorizationCodesTable extends Columns<Omit<AuthorizationCode, 'context'>> {
  /** Not read; see its constant. */
  requested_claims: string;
  context_user_type: LoginContext['userType'];
  context_client_id: string;
  /** When the minute of its issue began. */
  minute: number;
}

/** A minute in which codes were issued. */
interface CodeMinutesTable {
  minute: number;
  /** When the last of them expires. */
  expires_at: number;
  /** When a workflow began to watch it. */
  watched_at: number | null;
}

/** The count of attempts in the window that ends at `ends_at`. */
interface AttemptCountsTable {
  subject: string;
  count: number;
  ends_at: number;
  /** When the newest attempt may be made, where attempts wait for turns; otherwise 0. */
  next_at: number;
}

/** The tables of webhooks, which migration 0005 began and 0012 put in order. */
interface WebhooksSchema {
  subscriptions: SubscriptionsTable;
  /** `sealed` has the signing secret: the bytes behind `whsec_`, sealed for the id of the row. */
  subscription_secrets: Columns<SubscriptionSecret> & { subscription_id: string; sealed: string };
  deliveries: DeliveriesTable;
  /** Attempts that have ended; one that runs is in its delivery only. The start of an answer is in base64. */
  delivery_attempts: Columns<DeliveryAttempt> & { delivery_seq: number };
  retry_batches: RetryBatchesTable;
}

interface SubscriptionsTable extends Columns<Omit<Subscription, 'status'>> {
  status: SubscriptionStatus | 'DELETED';
  /** The failing_since of the last warning, and its threshold in tenths of the time. */
  warned_failing_since: number | null;
  warned_tenths: Generated<number>;
  deleted_at: number | null;
}

interface DeliveriesTable extends Columns<Omit<Delivery, 'instanceIntegrationId'>> {
  /** In the order in which they were made; what refers to a delivery inside the database does so by this. */
  seq: Generated<number>;
  event_seq: number;
  /** How long after `next_attempt_at` it may be claimed: the time that a workflow has to make it due. */
  grace_ms: Generated<number>;
}

/** Failed deliveries of one subscription for one workflow. Open to more until it is handed over. */
interface RetryBatchesTable {
  id: string;
  subscription_id: string;
  size: number;
  created_at: number;
  closes_at: number;
  handed_over_at: number | null;
}

/** Tables of the sequence of changes, from migration 0030. */
interface ChangesSchema {
  changes: ChangesTable;
  change_digests: ChangeDigestsTable;
  change_lives: ChangeLivesTable;
  change_feed: ChangeFeedTable;
}

/** A row for each entity that integrations see, also for a removed one. Triggers write it. */
interface ChangesTable {
  entity_type: EntityType;
  entity_id: string;
  client_id: string;
  instance_id: string;
  /** Of the newest change. Rows of one transaction may share it. */
  position: number;
  /** A random number, which each change replaces. */
  version: number;
  /** Whether lists omit the entity. */
  removed: 0 | 1;
  changed_at: number;
}

/** On PostgreSQL several rows with the same client and type count together. */
interface ChangeDigestsTable {
  client_id: string;
  entity_type: EntityType;
  entities: number;
  /** The sum of the versions of the entities that are not removed, modulo 2^52. */
  digest: number;
}

/**
 * A restore begins a life, and so does a move to PostgreSQL, or another server or timeline of it. Cursors of
 * an earlier one are valid up to its last position.
 */
interface ChangeLivesTable {
  life: string;
  /** Null for the present life. */
  last_position: number | null;
  /** The server and timeline of PostgreSQL on which the life began; null on SQLite. */
  history: string | null;
}

/** One row. */
interface ChangeFeedTable {
  only_row: 1;
  /** SQLite: the position of the newest change. */
  last_position: number;
  /** PostgreSQL: what makes a position of the id of a transaction. */
  xid_offset: number;
}
