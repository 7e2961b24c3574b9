import type { Settling } from '../../../src/store/copies/settle-copy.js';
import { resume, type Suspended } from '../../../src/store/copies/suspended.js';
import type { Database } from '../../../src/store/database.js';
import type { Schema } from '../../../src/store/schema.js';
import { plantSubscription } from '../adapters/webhooks/sending/rig.js';
import { newConnection, plantDelivery } from '../adapters/webhooks/subscriptions/rig.js';
import { plantAccount, plantUser } from '../directory-rows.js';
import { plantApiKey, plantServiceToken } from '../rows.js';

export const NOW = 1_790_000_500_000;
export const LATER = NOW + 60_000;
/** Of a second restore. */
export const AGAIN = NOW + 1_000;
const ACTOR = { type: 'command', id: 'resume' };
export const UNKNOWN: Settling = {
  ...{ at: NOW, valid: undefined, attributes: {} },
  ...{ keepSessions: false, keepKeys: false, sendWebhooks: false },
};
/** With a recent list. */
export const KNOWN = { ...UNKNOWN, keepKeys: true };
const SECRET = { id: 'sec_1', hash: 'h', created_at: 1, expires_at: null, last_used_at: null };

/** A database with one of each credential, account and subscription. */
export async function plantAll(database: Database) {
  const connection = await newConnection(database);
  const { integration_id } = await database.reader
    .selectFrom('instance_integrations')
    .select('integration_id')
    .executeTakeFirstOrThrow();
  const key = await plantApiKey(database, 'key', { integration_id });
  const token = await plantServiceToken(database, 'token', { expires_at: LATER });
  const subscription = await plantSubscription(database, {
    ...{ instance_integration_id: connection.id, instance_id: connection.instanceId },
  });
  const account = await plantAccount(database);
  const user = await plantUser(database, { client_id: connection.clientId, account_id: account.id });
  const application_id = 'app_1';
  const times = { version: 'v1', created_at: 1, updated_at: 1 };
  const until = { expires_at: LATER, revoked_at: null };
  await insert(database, 'applications', {
    ...{ id: application_id, name: 'Planner', type: 'confidential', enabled: 1, first_party: 0 },
    ...{ allowed_scopes: '[]', allowed_grant_types: '[]', require_pkce: 1, id_token_algorithm: 'ES256' },
    ...{ post_logout_redirect_uris: '[]', sign_out_ends_tokens: 0, ...times },
  });
  await insert(database, 'application_secrets', { ...SECRET, application_id });
  await insert(database, 'passwords', { account_id: account.id, hash: '$argon2id', set_at: 7 });
  await insert(database, 'sessions', {
    ...{ id: 'ses_1', token_hash: 's', began_as: null, account_id: account.id, authenticated_at: 1 },
    ...{ contexts: null, last_seen_at: 1, expires_at: LATER },
  });
  const grant = { application_id, account_id: account.id, instance_id: connection.instanceId };
  await insert(database, 'grants', {
    ...{ id: 'gra_1', ...grant, scopes: 'openid', authenticated_at: 1, session_id: 'ses_1', generation: 0 },
    ...{ rotated_at: 1, refresh_expires_at: LATER, refresh_ends_at: LATER, ...until },
  });
  await insert(database, 'consents', { ...grant, scopes: '["openid"]', given_at: 1 });
  await insert(database, 'account_links', {
    ...{ token_hash: 'l', account_id: account.id, purpose: 'reset', email_key: 'e' },
    ...{ created_at: 1, expires_at: LATER, ended_at: null },
  });
  await insert(database, 'signing_keys', {
    ...{ kid: 'kid_1', algorithm: 'ES256', public_jwk: '{}', sealed_private_key: 's', created_at: 1 },
    ...{ activates_at: 1, superseded_at: 2, retires_at: 3, retired_at: null },
  });
  await insert(database, 'deliveries', {
    ...{
      id: 'del_1',
      subscription_id: subscription,
      event_seq: 1,
      event_id: 'evt_1',
      event_type: 'user.updated',
    },
    // Of a later event than those of which tests hold deliveries.
    ...{ origin: 'EVENT', status: 'PENDING', attempts_begun: 1, next_attempt_at: 5, created_at: 100 },
  });
  return { key: key.id, token: token.id, subscription, account: account.id, user: user.id, application_id };
}

export async function insert<T extends keyof Schema>(
  database: Database,
  table: T,
  row: object,
): Promise<void> {
  await database.write((writer) =>
    writer
      .insertInto(table)
      .values(row as never)
      .execute(),
  );
}

export async function rowOf<T extends keyof Schema>(
  database: Database,
  table: T,
): Promise<Record<string, unknown>> {
  return (await database.reader.selectFrom(table).selectAll().executeTakeFirstOrThrow()) as never;
}

export async function audited(database: Database): Promise<string[]> {
  const rows = await database.reader
    .selectFrom('audit_events')
    .select(['type', 'actor_id', 'subject_id'])
    .execute();
  return rows.map(({ type, actor_id, subject_id }) => `${actor_id} ${type} ${subject_id}`).sort();
}

/** A delivery that waits since an event. */
export async function holdOne(database: Database, id: string, occurredAt: number, status = 'HELD') {
  const receiver = { id, instanceId: 'ins_1' };
  await plantDelivery(database, receiver as never, { status: status as never }, occurredAt);
}

/** Returns what it resumed. */
export async function resumeAll(database: Database, suspended: readonly Suspended[], at: number) {
  const resumed: unknown[] = [];
  for (const each of suspended) {
    resumed.push(await resume(database, each, { actor: ACTOR, at }));
  }
  return resumed.filter((each) => each !== undefined);
}
