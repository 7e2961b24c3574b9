import type { Generated } from 'kysely';
import type { ChangesSchema } from './changes-schema.js';
import type { EncryptionSchema } from './encryption-schema.js';
import type { SignOnSchema } from './sign-on-schema.js';
import type { WebhooksSchema } from './webhooks-schema.js';

/** The tables after the newest migration. Times are milliseconds since 1970; hashes are base64url. */
export interface Schema extends SignOnSchema, WebhooksSchema, EncryptionSchema, ChangesSchema {
  environment: EnvironmentTable;
  instances: InstancesTable;
  integrations: IntegrationsTable;
  data_versions: DataVersionsTable;
  instance_integrations: InstanceIntegrationsTable;
  api_keys: ApiKeysTable;
  service_tokens: ServiceTokensTable;
  accounts: AccountsTable;
  clients: ClientsTable;
  roles: RolesTable;
  users: UsersTable;
  unit_types: UnitTypesTable;
  units: UnitsTable;
  locations: LocationsTable;
  job_titles: JobTitlesTable;
  workers: WorkersTable;
  worker_units: WorkerUnitsTable;
  events: EventsTable;
  idempotency_keys: IdempotencyKeysTable;
  applications: ApplicationsTable;
  application_redirect_uris: ApplicationRedirectUrisTable;
  application_secrets: ApplicationSecretsTable;
  audit_events: AuditEventsTable;
  maintenance_runs: MaintenanceRunsTable;
  call_counts: CallCountsTable;
  /** What a node must know to serve the database, from migration 0032. */
  required_migrations: { name: string };
  integration_notices: IntegrationNoticesTable;
  expiry_warnings: ExpiryWarningsTable;
}

/** A random version per row, against concurrent changes by administrators. */
interface VersionColumn {
  version: string;
}

/** One row: the environment of this database. */
interface EnvironmentTable {
  only_row: 1;
  name: 'live' | 'demo';
  created_at: number;
  /** SIGN_ON_URL of the last start; null before the first one. */
  issuer: string | null;
}

interface InstancesTable extends VersionColumn {
  id: string;
  name: string;
  created_at: number;
  updated_at: number;
}

/** The same for tables that got versions later: older rows have the empty one. */
interface LaterVersionColumn {
  version: Generated<string>;
}

interface IntegrationsTable extends LaterVersionColumn {
  id: string;
  name: string;
  /** The address to which the platform mails warnings about the integration. */
  contact_email: string | null;
  created_at: number;
  updated_at: number;
}

/** A random value for each integration, instance and client, which every change of its data replaces. */
interface DataVersionsTable {
  subject_id: string;
  version: string;
}

interface InstanceIntegrationsTable extends LaterVersionColumn {
  id: string;
  integration_id: string;
  instance_id: string;
  /** Null until the connection is set up; until then it reaches no client. */
  configured_at: number | null;
  created_at: number;
  updated_at: number;
}

interface ApiKeysTable extends LaterVersionColumn {
  id: string;
  integration_id: string;
  hash: string;
  label: string;
  /** The first characters, to tell keys apart. */
  hint: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
}

interface ServiceTokensTable {
  id: string;
  kind: 'operator' | 'platform' | 'support' | 'auditor' | 'key_custodian';
  /** The only instance that a platform token reaches. */
  instance_id: string | null;
  /** The first token of its line of successors; null for that one, and for older tokens. */
  owner_id: string | null;
  hash: string;
  label: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
}

/** A person, with all their clients. */
interface AccountsTable extends VersionColumn {
  id: string;
  worker_profile_id: string;
  /** As given; `email_key`, which is unique, identifies the mailbox. */
  email: string;
  email_key: string;
  /** What the contracts show in place of `email`; null where they accept it. */
  contract_email: string | null;
  /** The other account of the mailbox, which has its key; then `email_key` is this exact address. */
  same_mailbox_as: string | null;
  /** Null until the person proved that the address is theirs. */
  email_verified_at: number | null;
  /** As given by the client that first added the person; tokens carry those of the user or worker. */
  first_name: string | null;
  last_name: string | null;
  /** Null while the person may sign in. */
  disabled_at: number | null;
  created_at: number;
  updated_at: number;
}

interface AddressColumns {
  address1: string | null;
  address2: string | null;
  city: string | null;
  iso_country_code: string | null;
  postal_code: string | null;
  zone_code: string | null;
}

interface ClientsTable extends AddressColumns, VersionColumn {
  id: string;
  instance_id: string;
  name: string;
  created_at: number;
  updated_at: number;
}

interface RolesTable extends VersionColumn {
  id: string;
  client_id: string;
  name: string;
  built_in: 0 | 1;
  /** A JSON array, in the terms of the platform. */
  permissions: string;
  created_at: number;
}

interface UsersTable extends VersionColumn {
  id: string;
  client_id: string;
  account_id: string;
  first_name: string | null;
  last_name: string | null;
  full_name: string | null;
  status: 'ACTIVE' | 'INACTIVE' | 'INVITED' | 'DELETED';
  manager_id: string | null;
  role_id: string | null;
  created_at: number;
  updated_at: number;
}

interface UnitTypesTable extends VersionColumn {
  id: string;
  client_id: string;
  name: string;
  created_at: number;
  updated_at: number;
}

interface UnitsTable extends VersionColumn {
  id: string;
  client_id: string;
  unit_type_id: string;
  parent_id: string | null;
  name: string;
  unit_code: string | null;
  description: string | null;
  created_at: number;
  updated_at: number;
}

interface LocationsTable extends AddressColumns, VersionColumn {
  id: string;
  client_id: string;
  name: string;
  created_at: number;
  updated_at: number;
}

interface JobTitlesTable {
  client_id: string;
  title: string;
}

interface WorkersTable extends AddressColumns, VersionColumn {
  id: string;
  client_id: string;
  account_id: string;
  first_name: string;
  last_name: string;
  full_name: string;
  email: string;
  contract_email: string | null;
  phone: string | null;
  /** A JSON array of texts, in the given order. */
  job_titles: string;
  location_id: string | null;
  primary_unit_id: string | null;
  offboarded_at: number | null;
  created_at: number;
  updated_at: number;
}

interface WorkerUnitsTable {
  worker_id: string;
  unit_id: string;
  /** The order of the units. */
  position: number;
}

/** One row per event, from the transaction of its change. */
interface EventsTable {
  /** The order of recording. */
  seq: Generated<number>;
  id: string;
  type: string;
  occurred_at: number;
  /** The order of the entity's events; null if an earlier release recorded it during an upgrade. */
  sequence: number | null;
  instance_id: string;
  client_id: string;
  entity_type: string;
  entity_id: string;
  /** JSON; `links.self` contains `{instanceIntegrationId}` until a receiver is known. */
  data: string;
  /** 1 for a test event that an operator sent to one subscription. */
  is_test: Generated<0 | 1>;
  /** The request id of the call that made the change; null for events of earlier releases. */
  request_id: string | null;
  /** The span of that call as a W3C `traceparent`; null if it was not traced. */
  traceparent: Generated<string | null>;
}

/** The answer to a call with an idempotency key, for repetitions. */
interface IdempotencyKeysTable {
  /** The token that used the key, or the first of its line; empty for older rows, which answer any token. */
  owner_id: string;
  method: string;
  key: string;
  request_hash: string;
  /** Base64; null only inside the transaction that first uses the key. */
  response: string | null;
  created_at: number;
}

/** An application that people sign in to. Lists are JSON arrays; null lifetimes are defaults. */
interface ApplicationsTable extends VersionColumn {
  id: string;
  name: string;
  type: 'confidential' | 'public';
  enabled: 0 | 1;
  allowed_scopes: string;
  allowed_grant_types: string;
  require_pkce: 0 | 1;
  first_party: 0 | 1;
  sign_out_ends_tokens: 0 | 1;
  id_token_algorithm: 'RS256' | 'ES256' | 'EdDSA';
  access_token_seconds: number | null;
  refresh_token_seconds: number | null;
  id_token_seconds: number | null;
  refresh_family_seconds: number | null;
  post_logout_redirect_uris: string;
  logo_uri: string | null;
  policy_uri: string | null;
  tos_uri: string | null;
  initiate_login_uri: string | null;
  created_at: number;
  updated_at: number;
}

interface ApplicationRedirectUrisTable {
  application_id: string;
  uri: string;
  instance_id: string;
  /** The order of registration. */
  position: number;
}

interface ApplicationSecretsTable {
  id: string;
  application_id: string;
  hash: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
}

/** A row per audit record. Ids, never a secret. */
interface AuditEventsTable {
  id: string;
  created_at: number;
  type: string;
  outcome: 'succeeded' | 'refused';
  actor_type: string;
  actor_id: string;
  subject_type: string | null;
  subject_id: string | null;
  request_id: string | null;
  remote_address: string | null;
  /** A JSON object of texts. */
  attributes: string;
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

/** Calls in a window over all nodes, by hashed caller. Empty on SQLite, which has one node. */
interface CallCountsTable {
  subject: string;
  started_at: number;
  ends_at: number;
  used: number;
}

/** Notices that the platform mails to the contacts of integrations. */
interface IntegrationNoticesTable {
  id: string;
  kind: 'failing_half' | 'failing_nine_tenths';
  integration_id: string;
  subscription_id: string;
  email: string;
  failing_since: number;
  disabled_from: number;
  created_at: number;
}

/** Recorded warnings of an expiry: one row for each threshold in days. */
interface ExpiryWarningsTable {
  kind: string;
  id: string;
  expires_at: number;
  days: number;
}
