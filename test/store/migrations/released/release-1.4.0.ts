import { hashText } from '../../rows.js';
import { AT, IDS, id, LATER, rowsOf131, SESSION } from './release-1.3.1.js';

type Rows = [table: string, ...rows: object[]];

/** The id of the only encryption key: 32 bytes of 7. */
const KEY_ID = 'ek_f9aabf2fb7db3093';
const CONTACT = 'contact@example.com';
const ROTATION = { rotated_at: AT, intended_expires_at: LATER };
/** Of a person who has another address since the invitation, and has not signed in. */
export const KNOWN_EMAIL = 'grace@example.net';
const PRESENT_EMAIL = 'grace@example.org';

/** The columns that 1.4.0 wrote and 1.3.1 did not. */
const COLUMNS: Record<string, object> = {
  environment: { issuer: 'https://login.example.com' },
  integrations: { contact_email: CONTACT },
  api_keys: ROTATION,
  service_tokens: { instance_id: null, owner_id: null, ...ROTATION },
  accounts: { contract_email: null, same_mailbox_as: null },
  users: { known_email: null },
  workers: { contract_email: null },
  idempotency_keys: { owner_id: 'tok_1' },
  applications: {
    ...{ refresh_family_seconds: 86_400, sign_out_ends_tokens: 1, policy_uri: null, tos_uri: null },
    ...{ logo_uri: 'https://rota.example.com/logo', initiate_login_uri: 'https://rota.example.com/login' },
  },
  // The hash is keyed, and covers the other columns of the row.
  audit_events: {
    ...{ chain: 'ach_1.448c2888', seq: 1, hash: 'cmogdFcOLCVvQncy1i0ZQj3Yh3UK0wRghyTP-3qvkMc' },
  },
  attempt_counts: { next_at: AT },
  authorization_codes: { session_id: 'ses_1' },
  grants: { session_id: 'ses_1', refresh_ends_at: LATER },
  subscriptions: { warned_failing_since: null, warned_tenths: 0 },
  events: { sequence: AT, request_id: 'req_1', traceparent: null },
  deliveries: { event_seq: 1, grace_ms: 1 },
};

/** In place of the rows of 1.3.1. Tables without rows here were gone. */
const REPLACED: Record<string, object[]> = {
  interactions: [],
  known_addresses: [],
  sessions: [
    {
      ...{ id: 'ses_1', token_hash: hashText(SESSION), account_id: IDS.account, authenticated_at: AT },
      ...{ began_as: 'before the sign-in', contexts: null, last_seen_at: AT, expires_at: LATER },
    },
  ],
  delivery_attempts: [
    {
      ...{ delivery_seq: 1, number: 1, started_at: AT, ended_at: AT, outcome: 'STATUS_REFUSED' },
      ...{ duration_ms: 7, http_status: 503, message: 'Busy.', response_start: 'bm8=' },
    },
  ],
};

/** Beside the rows of 1.3.1. */
const FURTHER: Record<string, object[]> = {
  accounts: [
    {
      ...{ id: id('acc', 2), worker_profile_id: id('wpf', 2), email: PRESENT_EMAIL },
      ...{ email_key: PRESENT_EMAIL, email_verified_at: AT, first_name: 'Grace', last_name: 'Hall' },
      ...{ version: 'v1', created_at: LATER, updated_at: LATER, ...COLUMNS.accounts },
    },
  ],
  users: [
    {
      ...{ id: id('usr', 2), client_id: IDS.client, account_id: id('acc', 2), status: 'INVITED' },
      ...{ first_name: 'Grace', last_name: 'Hall', full_name: 'Grace Hall', role_id: id('rol') },
      ...{ version: 'v1', created_at: LATER, updated_at: LATER, known_email: KNOWN_EMAIL },
    },
  ],
};

/** Of tables that 1.3.1 did not have. */
const ADDED: Rows[] = [
  ['finished_interactions', { id: 'int_1', expires_at: LATER }],
  [
    'email_changes',
    {
      ...{ account_id: IDS.account, asker: IDS.client, email: 'ada@example.org' },
      ...{ asked_at: AT, link_hash: null, expires_at: LATER },
    },
  ],
  [
    'account_notices',
    {
      ...{ id: 'ano_1', kind: 'email_changed', account_id: IDS.account },
      ...{ email: 'ada@example.net', created_at: AT },
    },
  ],
  [
    'integration_notices',
    {
      ...{ id: 'ino_1', kind: 'failing_half', integration_id: IDS.integration, created_at: AT },
      ...{ subscription_id: IDS.subscription, email: CONTACT, failing_since: AT, disabled_from: LATER },
    },
  ],
  ['expiry_warnings', { kind: 'api_key', id: 'key_1', expires_at: LATER, days: 30 }],
  ['maintenance_runs', { job: 'purge', run: 'run_1', ends_at: AT, ended_at: AT }],
  ['call_counts', { subject: 'a hashed caller', started_at: AT, ends_at: AT + 60_000, used: 2 }],
  ['encryption_keys', { id: KEY_ID, position: 1, activated_at: AT, retired_at: null }],
  [
    'encryption_key_holders',
    {
      ...{ node: 'payroll-1', key_ids: `["${KEY_ID}"]`, used_id: KEY_ID, seen_at: AT },
      ...{ issuer: 'https://login.example.com', newest_migration: '0043-present-by-person' },
    },
  ],
  // Its migrations and triggers wrote these; it required no migration.
  ...['changes', 'change_digests', 'change_lives', 'change_feed', 'required_migrations'].map(
    (table): Rows => [table],
  ),
];

/** `seal` as that release sealed, but for the id of the key in front. */
type Seal = (
  purpose: 'webhook-secrets' | 'signing-keys' | 'token-keys',
  content: Uint8Array,
  name: string,
) => string;

/** What a database of 1.3.1 may hold after its upgrade to 1.4.0: the same, and rows in each new table. */
export function rowsOf140(seal: Seal, tokenKeys: Readonly<Record<string, Uint8Array>>): Rows[] {
  const withId: Seal = (...content) => `${KEY_ID}.${seal(...content)}`;
  const kept = rowsOf131(withId).flatMap(([table, ...rows]): Rows[] => {
    const upgraded = REPLACED[table] ?? rows.map((row) => ({ ...row, ...COLUMNS[table] }));
    const present = [...upgraded, ...(FURTHER[table] ?? [])];
    return present.length > 0 ? [[table, ...present]] : [];
  });
  const sealedKeys = Object.entries(tokenKeys).map(([purpose, key]) => ({
    ...{ purpose, sealed: withId('token-keys', key, purpose), created_at: AT },
  }));
  return [...kept, ...ADDED, ['token_keys', ...sealedKeys]];
}
