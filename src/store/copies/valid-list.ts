import { sql } from 'kysely';
import type { Reader } from '../database.js';

/** Ids of what lets in at a time. What another copy of the database has beyond it was ended since. */
export interface ValidList {
  apiKeys: string[];
  serviceTokens: string[];
  clientSecrets: string[];
  /** Enabled. */
  applications: string[];
  /** Enabled. */
  accounts: string[];
  /** By account, when it was set. */
  passwords: Record<string, number>;
  /** Users and workers who belong to a client. */
  members: string[];
  subscriptions: string[];
  signingKeys: string[];
}

export async function validIn(reader: Reader, now: number): Promise<ValidList> {
  const passwords = await reader.selectFrom('passwords').select(['account_id', 'set_at']).execute();
  return {
    apiKeys: await ids(reader, 'api_keys', sql`revoked_at is null and ${unexpired(now)}`),
    serviceTokens: await ids(reader, 'service_tokens', sql`revoked_at is null and ${unexpired(now)}`),
    clientSecrets: await ids(reader, 'application_secrets', unexpired(now)),
    applications: await ids(reader, 'applications', sql`enabled = 1`),
    accounts: await ids(reader, 'accounts', sql`disabled_at is null`),
    passwords: Object.fromEntries(passwords.map(({ account_id, set_at }) => [account_id, Number(set_at)])),
    members: [
      ...(await ids(reader, 'users', sql`status in ('ACTIVE', 'INVITED')`)),
      ...(await ids(reader, 'workers', sql`offboarded_at is null`)),
    ],
    subscriptions: await ids(reader, 'subscriptions', sql`status = 'ACTIVE'`),
    signingKeys: await ids(reader, 'signing_keys', sql`retired_at is null`, 'kid'),
  };
}

export function unexpired(now: number) {
  return sql<boolean>`(expires_at is null or expires_at > ${now})`;
}

async function ids(
  reader: Reader,
  table: string,
  condition: ReturnType<typeof sql>,
  key = 'id',
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select ${sql.ref(key)} as id from ${sql.table(table)} where ${condition} order by 1
  `.execute(reader);
  return rows.map(({ id }) => id);
}
