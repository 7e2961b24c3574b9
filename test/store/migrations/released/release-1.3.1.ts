import { hashText } from '../../rows.js';

export const AT = 1_780_000_000_000;
export const LATER = AT + 10 * 365 * 86_400_000;

export const API_KEY = 'ik_demo_of_1.3.1';
export const SERVICE_TOKEN = 'a service token of 1.3.1';
export const CLIENT_SECRET = 'a client secret of 1.3.1';
export const SESSION = 'a session of 1.3.1';
export const LINK = 'a link of 1.3.1';
export const CODE = 'a code of 1.3.1';
export const WEBHOOK_SECRET = Buffer.from('the bytes behind whsec_ of 1.3.1');
export const PRIVATE_KEY = Buffer.from('{"kty":"EC"}');
/** The id of a grant is the family of its refresh tokens: 16 bytes. */
export const GRANT = Buffer.from('grant of 1.3.1 !').toString('base64url');

export const id = (prefix: string, number = 1) => `${prefix}_${String(number).padStart(22, '0')}`;
export const IDS = {
  ...{ instance: id('ins'), client: id('cli'), account: id('acc'), user: id('usr'), worker: id('wrk') },
  ...{ integration: id('itg'), connection: id('iin'), application: id('app'), subscription: id('whs') },
  ...{ event: id('evt'), delivery: id('whd'), delivered: id('whd', 2) },
};

const versioned = { version: 'v1', created_at: AT, updated_at: AT };
const dated = { created_at: AT, updated_at: AT };
const credential = { created_at: AT, expires_at: LATER, last_used_at: null };
const access = {
  ...{ application_id: IDS.application, account_id: IDS.account, instance_id: IDS.instance },
  ...{ scopes: 'openid offline_access', authenticated_at: AT },
};
const event = { instance_id: IDS.instance, client_id: IDS.client, entity_type: 'user', entity_id: IDS.user };
const delivery = {
  ...{ subscription_id: IDS.subscription, event_id: IDS.event, event_type: 'user.updated', origin: 'EVENT' },
  ...{ attempt_started_at: null, lease_until: null, created_at: AT },
};

/**
 * What a database of release 1.3.1 may hold: a row or more in each table, as that release wrote them. `seal`
 * must seal as it did: without the id of the key.
 */
export function rowsOf131(
  seal: (purpose: 'webhook-secrets' | 'signing-keys', content: Buffer, name: string) => string,
): [table: string, ...rows: object[]][] {
  return [
    ['environment', { only_row: 1, name: 'demo', created_at: AT }],
    ['instances', { id: IDS.instance, name: 'Harborlight', ...versioned }],
    ['integrations', { id: IDS.integration, name: 'Brightledger', ...dated, version: 'v1' }],
    ['data_versions', { subject_id: IDS.client, version: 'v1' }],
    [
      'instance_integrations',
      {
        ...{ id: IDS.connection, integration_id: IDS.integration, instance_id: IDS.instance },
        ...{ configured_at: AT, ...dated, version: 'v1' },
      },
    ],
    [
      'api_keys',
      {
        ...{
          id: 'key_1',
          integration_id: IDS.integration,
          hash: hashText(API_KEY),
          label: 'Key',
          hint: 'ik_',
        },
        ...{ ...credential, revoked_at: null, version: 'v1' },
      },
    ],
    [
      'service_tokens',
      {
        ...{ id: 'tok_1', kind: 'platform', hash: hashText(SERVICE_TOKEN), label: 'Token' },
        ...{ ...credential, revoked_at: null },
      },
    ],
    [
      'accounts',
      {
        ...{
          id: IDS.account,
          worker_profile_id: id('wpf'),
          email: 'Ada@Example.com',
          email_key: 'ada@example.com',
        },
        ...{ email_verified_at: AT, first_name: 'Ada', last_name: 'Moreau', ...versioned },
      },
    ],
    ['clients', { id: IDS.client, instance_id: IDS.instance, name: 'Blue Anchor', ...versioned }],
    [
      'roles',
      {
        ...{ id: id('rol'), client_id: IDS.client, name: 'Manager', built_in: 0, permissions: '[]' },
        version: 'v1',
        created_at: AT,
      },
    ],
    ['unit_types', { id: id('out'), client_id: IDS.client, name: 'Team', ...versioned }],
    ['units', { id: id('oun'), client_id: IDS.client, unit_type_id: id('out'), name: 'Bar', ...versioned }],
    ['locations', { id: id('olo'), client_id: IDS.client, name: 'Pier', ...versioned }],
    ['job_titles', { client_id: IDS.client, title: 'Barista' }],
    [
      'users',
      {
        ...{ id: IDS.user, client_id: IDS.client, account_id: IDS.account, status: 'ACTIVE' },
        ...{
          first_name: 'Ada',
          last_name: 'Moreau',
          full_name: 'Ada Moreau',
          role_id: id('rol'),
          ...versioned,
        },
      },
    ],
    [
      'workers',
      {
        ...{ id: IDS.worker, client_id: IDS.client, account_id: IDS.account, email: 'ada@example.com' },
        ...{ first_name: 'Ada', last_name: 'Moreau', full_name: 'Ada Moreau', job_titles: '["Barista"]' },
        ...{ location_id: id('olo'), primary_unit_id: id('oun'), ...versioned },
      },
    ],
    ['worker_units', { worker_id: IDS.worker, unit_id: id('oun'), position: 0 }],
    [
      'idempotency_keys',
      { method: 'CreateUser', key: 'one', request_hash: 'hash', response: '{}', created_at: AT },
    ],
    [
      'applications',
      {
        ...{
          id: IDS.application,
          name: 'Rota',
          type: 'confidential',
          enabled: 1,
          allowed_scopes: '["openid"]',
        },
        ...{ allowed_grant_types: '["authorization_code","refresh_token"]', require_pkce: 1, first_party: 0 },
        ...{ id_token_algorithm: 'RS256', post_logout_redirect_uris: '[]', ...versioned },
      },
    ],
    [
      'application_redirect_uris',
      {
        ...{ application_id: IDS.application, uri: 'https://rota.example.com/back' },
        ...{ instance_id: IDS.instance, position: 0 },
      },
    ],
    [
      'application_secrets',
      {
        ...{ id: 'sec_1', application_id: IDS.application, hash: hashText(CLIENT_SECRET) },
        ...{ created_at: AT, expires_at: null, last_used_at: null },
      },
    ],
    [
      'audit_events',
      {
        ...{ id: 'aud_1', created_at: AT, type: 'integration.created', outcome: 'succeeded' },
        ...{ actor_type: 'operator', actor_id: 'tok_1', subject_type: 'integration' },
        ...{ subject_id: IDS.integration, attributes: '{"fields":"name"}' },
      },
    ],
    ['passwords', { account_id: IDS.account, hash: '$argon2id$of-1.3.1', set_at: AT }],
    [
      'account_links',
      {
        ...{ token_hash: hashText(LINK), account_id: IDS.account, purpose: 'reset' },
        ...{ email_key: 'ada@example.com', created_at: AT, expires_at: LATER, ended_at: null },
      },
    ],
    [
      'sessions',
      {
        ...{ id: 'ses_1', token_hash: hashText(SESSION), account_id: IDS.account, authenticated_at: AT },
        ...{ last_seen_at: AT, expires_at: LATER },
      },
      // A session from before a sign-in. Later releases keep its state in the address of the page.
      {
        ...{ id: 'ses_2', token_hash: 'of nobody yet', account_id: null, authenticated_at: null },
        ...{ last_seen_at: AT, expires_at: LATER },
      },
    ],
    [
      'interactions',
      { token_hash: 'hash', session_id: 'ses_2', request: '{}', progress: '{}', expires_at: LATER },
    ],
    [
      'consents',
      {
        ...{ account_id: IDS.account, application_id: IDS.application, instance_id: IDS.instance },
        ...{ scopes: '["openid"]', given_at: AT },
      },
    ],
    [
      'login_contexts',
      {
        ...{ account_id: IDS.account, instance_id: IDS.instance, user_type: 'WORKER' },
        ...{ client_id: IDS.client, used_at: AT },
      },
    ],
    [
      'authorization_codes',
      {
        ...{
          hash: hashText(CODE),
          grant_id: GRANT,
          ...access,
          redirect_uri: 'https://rota.example.com/back',
        },
        ...{ requested_claims: '{}', context_user_type: 'WORKER', context_client_id: IDS.client },
        ...{ status: 'ISSUED', minute: AT, issued_at: AT, expires_at: LATER },
      },
    ],
    ['code_minutes', { minute: AT, expires_at: LATER, watched_at: null }],
    [
      'grants',
      {
        ...{ id: GRANT, ...access, generation: 3, rotated_at: AT, refresh_expires_at: LATER },
        ...{ expires_at: LATER, revoked_at: null },
      },
    ],
    ['attempt_counts', { subject: 'someone', count: 2, ends_at: LATER }],
    ['known_addresses', { account_id: IDS.account, address_hash: 'hash', expires_at: LATER }],
    [
      'signing_keys',
      {
        ...{ kid: 'kid_1', algorithm: 'ES256', public_jwk: '{"kty":"EC"}' },
        sealed_private_key: seal('signing-keys', PRIVATE_KEY, 'kid_1'),
        ...{ created_at: AT, activates_at: AT, superseded_at: null, retires_at: null, retired_at: null },
      },
    ],
    [
      'subscriptions',
      {
        ...{ id: IDS.subscription, instance_integration_id: IDS.connection, instance_id: IDS.instance },
        ...{ url: 'https://hooks.example.com/', event_types: '["*"]', client_ids: '[]', description: '' },
        ...{ status: 'ACTIVE', failing_since: null, ...versioned },
      },
    ],
    [
      'subscription_secrets',
      {
        ...{ id: 'whk_1', subscription_id: IDS.subscription, created_at: AT, expires_at: null },
        sealed: seal('webhook-secrets', WEBHOOK_SECRET, 'whk_1'),
      },
    ],
    [
      'events',
      { id: IDS.event, type: 'user.updated', occurred_at: AT, ...event, data: '{"links":{}}', is_test: 0 },
    ],
    [
      'deliveries',
      {
        ...{ id: IDS.delivery, ...delivery, status: 'PENDING', attempts_begun: 1 },
        ...{ next_attempt_at: AT + 30_000, retry_batch_id: 'bat_1', ended_at: null },
      },
      {
        ...{ id: IDS.delivered, ...delivery, status: 'DELIVERED', attempts_begun: 1 },
        ...{ next_attempt_at: null, retry_batch_id: null, ended_at: AT },
      },
    ],
    [
      'delivery_attempts',
      {
        ...{ delivery_id: IDS.delivery, number: 1, started_at: AT, ended_at: AT, outcome: 'STATUS_REFUSED' },
        ...{ duration_ms: 7, http_status: 503, message: 'Busy.', response_start: 'bm8=' },
      },
    ],
    [
      'retry_batches',
      {
        ...{ id: 'bat_1', subscription_id: IDS.subscription, size: 1, created_at: AT },
        ...{ closes_at: AT, handed_over_at: null },
      },
    ],
  ];
}
