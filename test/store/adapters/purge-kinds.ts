import { sql } from 'kysely';
import type { ExpiringKind } from '../../../src/domain/maintenance/purge.js';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import type { Database } from '../../../src/store/database.js';
import type { Schema } from '../../../src/store/schema.js';
import { plantAccount } from '../directory-rows.js';
import { CREATED_AT, plantConnection, plantInstance, plantIntegration } from '../rows.js';

/** Later than whatever a test asks for. */
const LATER = CREATED_AT + 1e9;

interface Owners {
  account: string;
  integration: string;
  instance: string;
  connection: string;
  application: string;
}

export interface PurgedKind {
  kind: ExpiringKind;
  table: keyof Schema;
  /** The columns that say when a row is over: each by itself. */
  ends: readonly string[];
  /** A row that is not over; the number makes it another one. */
  row: (number: number, owners: Owners) => Record<string, unknown>;
}

const session = (number: number) => ({
  id: `session ${number}`,
  token_hash: `hash ${number}`,
  last_seen_at: LATER,
  expires_at: LATER,
});

const code = (number: number) => ({
  hash: `hash ${number}`,
  ...{ grant_id: 'g', application_id: 'app', account_id: 'acc', instance_id: 'ins' },
  ...{ redirect_uri: 'https://rota.example.com/', scopes: 'openid', requested_claims: '{}' },
  ...{ context_user_type: 'USER', context_client_id: 'cli' },
  ...{ authenticated_at: 1, status: 'ISSUED', minute: 0, issued_at: 1, expires_at: LATER },
});

const grant = (number: number) => ({
  id: `grant ${number}`,
  ...{
    application_id: 'app',
    account_id: 'acc',
    instance_id: 'ins',
    scopes: 'openid',
  },
  ...{ authenticated_at: 1, generation: 1, rotated_at: 1, refresh_expires_at: 1, revoked_at: 1 },
  expires_at: LATER,
});

const link = (number: number, { account }: Owners) => ({
  ...{ token_hash: `hash ${number}`, account_id: account, purpose: 'reset', email_key: 'a@example.com' },
  ...{ created_at: 1, expires_at: LATER, ended_at: null },
});

const signingKey = (number: number) => ({
  ...{ kid: `kid ${number}`, algorithm: 'ES256', public_jwk: '{}', sealed_private_key: 'sealed' },
  ...{ created_at: 1, activates_at: 1, superseded_at: 1, retires_at: 1, retired_at: null },
});

const auditEvent = (number: number) => ({
  ...{ id: `aud_${number}`, created_at: LATER, type: 'sign_in', outcome: 'succeeded' },
  ...{ actor_type: 'account', actor_id: 'acc', attributes: '{}' },
});

const credential = (number: number) => ({
  ...{ id: `id ${number}`, hash: `hash ${number}`, label: 'For a test', created_at: 1 },
  ...{ expires_at: null, revoked_at: null },
});

const delivery = (number: number) => ({
  ...{ id: `whd_${number}`, subscription_id: 'whs', event_seq: 0, event_id: 'evt' },
  event_type: 'user.updated',
  ...{ origin: 'EVENT', status: 'DELIVERED', attempts_begun: 1, created_at: LATER, ended_at: LATER },
});

const event = (number: number) => ({
  ...{ id: `evt_${number}`, type: 'user.updated', instance_id: 'ins', client_id: 'cli' },
  ...{ entity_type: 'user', entity_id: 'usr', data: '{}', occurred_at: LATER },
});

const subscription = (number: number, { instance, connection }: Owners) => ({
  ...{ id: `whs_${number}`, instance_integration_id: connection, instance_id: instance },
  ...{ url: 'https://hooks.example.com/', event_types: '["*"]', client_ids: '[]', description: '' },
  ...{ status: 'DELETED', version: 'v1', created_at: 1, updated_at: 1, deleted_at: null },
});

const APPLICATION = {
  ...{ name: 'Rota', type: 'confidential', enabled: 1, allowed_scopes: '[]', allowed_grant_types: '[]' },
  ...{ require_pkce: 1, first_party: 0, id_token_algorithm: 'RS256', post_logout_redirect_uris: '[]' },
  ...{ version: 'v1', created_at: 1, updated_at: 1 },
};

export const KINDS: readonly PurgedKind[] = [
  { kind: 'session', table: 'sessions', ends: ['expires_at'], row: session },
  { kind: 'idle_session', table: 'sessions', ends: ['last_seen_at'], row: (number) => session(number + 1e6) },
  {
    kind: 'interaction',
    table: 'finished_interactions',
    ends: ['expires_at'],
    row: (number) => ({ id: `id ${number}`, expires_at: LATER }),
  },
  { kind: 'authorization_code', table: 'authorization_codes', ends: ['expires_at'], row: code },
  {
    kind: 'code_minute',
    table: 'code_minutes',
    ends: ['expires_at'],
    row: (number) => ({ minute: number * 60_000, expires_at: LATER, watched_at: null }),
  },
  { kind: 'grant', table: 'grants', ends: ['expires_at'], row: grant },
  { kind: 'link', table: 'account_links', ends: ['expires_at', 'ended_at'], row: link },
  {
    kind: 'email_change',
    table: 'email_changes',
    ends: ['expires_at'],
    row: (number, { account }) => ({
      ...{ account_id: account, asker: `client ${number}`, email: 'a@example.com', asked_at: 1 },
      ...{ link_hash: `hash ${number}`, expires_at: LATER },
    }),
  },
  {
    kind: 'account_notice',
    table: 'account_notices',
    ends: ['created_at'],
    row: (number, { account }) => ({
      ...{ id: `ntc_${number}`, kind: 'email_changed', account_id: account, email: 'a@example.com' },
      created_at: LATER,
    }),
  },
  {
    kind: 'integration_notice',
    table: 'integration_notices',
    ends: ['created_at'],
    row: (number, { integration }) => ({
      ...{ id: `inc_${number}`, kind: 'failing_half', integration_id: integration, subscription_id: 'whs' },
      ...{ email: 'a@example.com', failing_since: 1, disabled_from: 2, created_at: LATER },
    }),
  },
  {
    kind: 'attempt_count',
    table: 'attempt_counts',
    ends: ['ends_at'],
    row: (number) => ({ subject: `subject ${number}`, count: 1, ends_at: LATER }),
  },
  {
    kind: 'idempotency_key',
    table: 'idempotency_keys',
    ends: ['created_at'],
    row: (number) => ({
      ...{
        owner_id: 'tok',
        method: `method ${number % 2}`,
        key: `key ${number >> 1}`,
        request_hash: 'hash',
        response: '',
      },
      created_at: LATER,
    }),
  },
  { kind: 'audit_event', table: 'audit_events', ends: ['created_at'], row: auditEvent },
  { kind: 'signing_key', table: 'signing_keys', ends: ['retired_at'], row: signingKey },
  {
    kind: 'api_key',
    table: 'api_keys',
    ends: ['expires_at', 'revoked_at'],
    row: (number, { integration }) => ({
      ...credential(number),
      hint: 'ik_demo_',
      integration_id: integration,
    }),
  },
  {
    kind: 'service_token',
    table: 'service_tokens',
    ends: ['expires_at', 'revoked_at'],
    row: (number) => ({ ...credential(number), kind: 'operator' }),
  },
  {
    kind: 'application_secret',
    table: 'application_secrets',
    ends: ['expires_at'],
    row: (number, { application }) => ({
      ...{ id: `secret ${number}`, application_id: application, hash: `hash ${number}`, created_at: 1 },
      expires_at: null,
    }),
  },
  {
    kind: 'delivery',
    table: 'deliveries',
    ends: ['created_at'],
    row: delivery,
  },
  {
    kind: 'retry_batch',
    table: 'retry_batches',
    ends: ['created_at'],
    row: (number) => ({
      ...{ id: `bat_${number}`, subscription_id: 'whs', size: 1, closes_at: 1, handed_over_at: 1 },
      created_at: LATER,
    }),
  },
  { kind: 'event', table: 'events', ends: ['occurred_at'], row: event },
  { kind: 'subscription', table: 'subscriptions', ends: ['deleted_at'], row: subscription },
  {
    kind: 'subscription_secret',
    table: 'subscription_secrets',
    ends: ['expires_at'],
    row: (number) => ({
      ...{ id: `sec_${number}`, subscription_id: 'whs_of_secrets', sealed: 'sealed', created_at: 1 },
      expires_at: null,
    }),
  },
];

/** One row for each of the ends; what an end leaves out is as in a row that is not over. */
export async function plantRows(
  database: Database,
  { kind, table, row }: PurgedKind,
  ends: readonly Record<string, number>[],
): Promise<void> {
  const owners = await plantOwners(database);
  if (kind === 'subscription_secret') {
    await plant(database, 'subscriptions', [{ ...subscription(0, owners), id: 'whs_of_secrets' }]);
  }
  const rows = ends.map((end, index) => ({ ...row(index, owners), ...end }));
  await plant(database, table, rows);
}

async function plantOwners(database: Database): Promise<Owners> {
  const [{ id: account }, { id: integration }, { id: instance }] = [
    await plantAccount(database),
    await plantIntegration(database),
    await plantInstance(database),
  ];
  const owned = { integration_id: integration, instance_id: instance };
  const { id: connection } = await plantConnection(database, owned);
  const application = newPublicId('ApplicationId');
  await plant(database, 'applications', [{ id: application, ...APPLICATION }]);
  return { account, integration, instance, connection, application };
}

function plant(database: Database, table: keyof Schema, rows: readonly object[]): Promise<unknown> {
  return database.write((writer) =>
    writer
      .insertInto(table)
      .values(rows as never)
      .execute(),
  );
}

export async function countRows({ reader }: Database, { table }: PurgedKind): Promise<number> {
  const counted = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(
    reader,
  );
  return Number(counted.rows[0]?.count);
}
