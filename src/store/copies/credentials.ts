import { type RawBuilder, sql } from 'kysely';
import { newVersion } from '../../domain/version.js';
import { changedOne } from '../adapters/statements/kept-statement.js';
import type { Reader, Writer } from '../database.js';

export type CredentialKind = 'api_key' | 'service_token' | 'client_secret';

/** A secret with which a program authenticates. */
export interface Credential {
  kind: CredentialKind;
  id: string;
  /** The id of the integration or application that owns it, or the kind of a service token. */
  of: string;
  label: string;
  expiresAt: number | null;
  lastUsedAt: number | null;
}

interface Stored {
  table: 'api_keys' | 'service_tokens' | 'application_secrets';
  of: string;
  label: RawBuilder<unknown>;
  /** Whether rows have `revoked_at`. */
  isRevocable: boolean;
}

export const CREDENTIALS: Record<CredentialKind, Stored> = {
  api_key: { table: 'api_keys', of: 'integration_id', label: sql`label`, isRevocable: true },
  service_token: { table: 'service_tokens', of: 'kind', label: sql`label`, isRevocable: true },
  client_secret: { table: 'application_secrets', of: 'application_id', label: sql`''`, isRevocable: false },
};

export const credentialKinds = Object.keys(CREDENTIALS) as CredentialKind[];

/** Credentials of all kinds that are not revoked and meet the condition. */
export async function credentialsWhere(
  reader: Reader | Writer,
  condition: RawBuilder<unknown>,
): Promise<Credential[]> {
  const found: Credential[] = [];
  for (const kind of credentialKinds) {
    const { table, of, label, isRevocable } = CREDENTIALS[kind];
    const { rows } = await sql<Omit<Credential, 'kind'>>`
      select id, ${sql.ref(of)} as "of", ${label} as label, expires_at as "expiresAt", last_used_at as "lastUsedAt"
      from ${sql.table(table)}
      where ${condition} ${isRevocable ? sql`and revoked_at is null` : sql``}
      order by created_at, id
    `.execute(reader);
    found.push(...rows.map((row) => ({ ...row, kind })));
  }
  return found;
}

/**
 * Sets the expiry of a credential; with `from`, unless it was revoked or has another expiry than this.
 * Returns whether it did.
 */
export async function setEnd(
  writer: Writer,
  { kind, id }: Pick<Credential, 'kind' | 'id'>,
  to: number | null,
  from?: number,
): Promise<boolean> {
  const { table, isRevocable } = CREDENTIALS[kind];
  const unrevoked = isRevocable ? sql`and revoked_at is null` : sql``;
  const isSame = from === undefined ? sql`` : sql`and expires_at = ${from} ${unrevoked}`;
  const change = sql`
    update ${sql.table(table)} set expires_at = ${to} ${newVersionOf(kind)} where id = ${id} ${isSame}
  `;
  return changedOne(await change.execute(writer));
}

/** Ends a credential permanently. Returns whether it did. */
export async function revoke(
  writer: Writer,
  { kind, id }: Pick<Credential, 'kind' | 'id'>,
  at: number,
): Promise<boolean> {
  const { table, isRevocable } = CREDENTIALS[kind];
  const end = isRevocable
    ? sql`update ${sql.table(table)} set revoked_at = ${at} ${newVersionOf(kind)} where id = ${id}`
    : sql`delete from ${sql.table(table)} where id = ${id}`;
  return changedOne(await end.execute(writer));
}

/** Of these rows, only those of API keys have a version. */
function newVersionOf(kind: CredentialKind) {
  return kind === 'api_key' ? sql`, version = ${newVersion()}` : sql``;
}
