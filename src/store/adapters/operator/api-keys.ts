import type { ApiKey, ApiKeyRows } from '../../../domain/operator/rows/integrations.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { newestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';
import { inStatus } from './key-status.js';

export function apiKeyRows(writer: Writer): ApiKeyRows {
  const db = camelCased(writer);
  const writes = plainWrites(db, 'apiKeys');
  const apiKeys = () =>
    db
      .selectFrom('apiKeys')
      .select(['id', 'integrationId', 'label', 'hint', 'version'])
      .select(['createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'])
      .$narrowType<Pick<ApiKey, 'integrationId'>>();
  return {
    find: (id) => apiKeys().where('id', '=', id).executeTakeFirst(),
    page: (page, { integrationId, status, now }) => {
      const found = apiKeys().where(({ and }) => and({ integrationId }));
      return newestFirst(found.where(inStatus(status, now)), 'api_keys', page);
    },
    insert: (apiKey, hash) => writes.insert({ ...apiKey, hash: Buffer.from(hash).toString('base64url') }),
    update: ({ id, label, version, expiresAt, revokedAt }) =>
      writes.update({ id, label, version, expiresAt, revokedAt }),
  };
}
