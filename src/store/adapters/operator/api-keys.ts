import type { ApiKey, ApiKeyRows } from '../../../domain/operator/rows/api-keys.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { newestFirst } from '../statements/keyset.js';
import { inStatus } from './key-status.js';

const apiKeyColumns = [
  'id',
  'integrationId',
  'label',
  'hint',
  'version',
  'createdAt',
  'expiresAt',
  'revokedAt',
  'lastUsedAt',
] as const satisfies readonly (keyof ApiKey)[];

export function apiKeyRows(writer: Writer): ApiKeyRows {
  const db = camelCased(writer);
  const apiKeys = () =>
    db.selectFrom('apiKeys').select(apiKeyColumns).$narrowType<Pick<ApiKey, 'integrationId'>>();
  return {
    find: (id) => apiKeys().where('id', '=', id).executeTakeFirst(),
    page: async (page, { integrationId, status, now }) => {
      let query = apiKeys();
      if (integrationId !== undefined) {
        query = query.where('integrationId', '=', integrationId);
      }
      if (status !== undefined) {
        query = query.where(inStatus(status, now));
      }
      return newestFirst(query, 'api_keys', page);
    },
    insert: async (apiKey, hash) => {
      await db
        .insertInto('apiKeys')
        .values({ ...apiKey, hash: Buffer.from(hash).toString('base64url') })
        .execute();
    },
    update: async ({ id, label, version, expiresAt, revokedAt }) => {
      await db
        .updateTable('apiKeys')
        .set({ label, version, expiresAt, revokedAt })
        .where('id', '=', id)
        .execute();
    },
  };
}
