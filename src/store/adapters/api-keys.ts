import type { ApiKeyStore, StoredApiKey } from '../../domain/access/api-key-store.js';
import type { Database } from '../database.js';

export function apiKeyStore({ reader, write }: Database): ApiKeyStore {
  return {
    findByHash: (hash) =>
      reader
        .selectFrom('api_keys')
        .innerJoin('integrations', 'integrations.id', 'api_keys.integration_id')
        .where('api_keys.hash', '=', Buffer.from(hash).toString('base64url'))
        .select([
          'api_keys.id',
          'api_keys.integration_id as integrationId',
          'integrations.version as integrationVersion',
          'api_keys.expires_at as expiresAt',
          'api_keys.revoked_at as revokedAt',
          'api_keys.last_used_at as lastUsedAt',
        ])
        .$castTo<StoredApiKey>()
        .executeTakeFirst(),

    markUsed: async (id, at, unlessSince) => {
      await write((writer) =>
        writer
          .updateTable('api_keys')
          .set({ last_used_at: at })
          .where('id', '=', id)
          .where((where) =>
            where.or([where('last_used_at', 'is', null), where('last_used_at', '<', unlessSince)]),
          )
          .execute(),
      );
    },
  };
}
