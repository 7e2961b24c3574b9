import type { Generated } from 'kysely';
import type { IntegrationNotice } from '../domain/credentials/notices.js';
import type { Address } from '../domain/directory/names.js';
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
import type { StoredEvent } from '../domain/webhooks/event-body.js';
import type { ChangesSchema } from './changes-schema.js';
import type { Columns } from './columns.js';
import type { SignOnSchema } from './sign-on-schema.js';
import type { WebhooksSchema } from './webhooks-schema.js';

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
