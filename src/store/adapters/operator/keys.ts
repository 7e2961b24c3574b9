import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { KeyStatus } from '../../../domain/operator/lifetime.js';
import type { ApiKey, ApiKeyRows } from '../../../domain/operator/rows/integrations.js';
import type { ServiceToken, ServiceTokenRows } from '../../../domain/operator/rows/service-tokens.js';
import { camelCased, type Writer } from '../../database.js';
import { newestFirst } from '../statements/keyset.js';
import { certainWrites, plainWrites } from '../statements/plain-writes.js';

export function apiKeyRows(writer: Writer): ApiKeyRows {
  const db = camelCased(writer);
  const { insert } = plainWrites(db, 'apiKeys');
  const { update } = certainWrites(db, 'apiKeys');
  const apiKeys = () =>
    db
      .selectFrom('apiKeys')
      .select(['id', 'integrationId', 'label', 'hint', 'version'])
      .select(['createdAt', 'expiresAt', 'rotatedAt', 'intendedExpiresAt', 'revokedAt', 'lastUsedAt'])
      .$narrowType<Pick<ApiKey, 'integrationId'>>();
  return {
    find: (id) => apiKeys().where('id', '=', id).executeTakeFirst(),
    page: (page, { integrationId, status, now }) => {
      const found = apiKeys().where(({ and }) => and({ integrationId }));
      return newestFirst(found.where(inStatus(status, now)), 'api_keys', page);
    },
    insert: (apiKey, hash) => insert({ ...apiKey, hash: Buffer.from(hash).toString('base64url') }),
    update: ({ id, label, version, expiresAt, rotatedAt, intendedExpiresAt, revokedAt }) =>
      update({ id, label, version, expiresAt, rotatedAt, intendedExpiresAt, revokedAt }),
  };
}

export function serviceTokenRows(writer: Writer): ServiceTokenRows {
  const db = camelCased(writer);
  const { insert } = plainWrites(db, 'serviceTokens');
  const { update } = certainWrites(db, 'serviceTokens');
  const tokens = () =>
    db
      .selectFrom('serviceTokens')
      .select(['id', 'kind', 'instanceId', 'ownerId', 'label'])
      .select(['createdAt', 'expiresAt', 'rotatedAt', 'intendedExpiresAt', 'revokedAt', 'lastUsedAt'])
      .$narrowType<Pick<ServiceToken, 'instanceId'>>();
  return {
    find: (id) => tokens().where('id', '=', id).executeTakeFirst(),
    page: (page, { status, now }) =>
      newestFirst(tokens().where(inStatus(status, now)), 'service_tokens', page),
    someActive: (kind, now) =>
      tokens().where('kind', '=', kind).where(inStatus('active', now)).limit(2).execute(),
    insert: (token, hash) => insert({ ...token, hash: Buffer.from(hash).toString('base64url') }),
    rotate: (id, rotation) => update({ id, ...rotation }),
    revoke: (id, at) => update({ id, revokedAt: at }),
  };
}

/** The condition for a status at a time, equivalent to `statusOf` of the domain. Without a status, none. */
function inStatus(status: KeyStatus | undefined, now: number): RawBuilder<SqlBool> {
  const conditions: Record<KeyStatus | 'any', RawBuilder<SqlBool>> = {
    revoked: sql`revoked_at is not null`,
    expired: sql`revoked_at is null and expires_at <= ${now}`,
    active: sql`revoked_at is null and (expires_at is null or expires_at > ${now})`,
    any: sql`1 = 1`,
  };
  return conditions[status ?? 'any'];
}
