import type { ServiceTokenStore } from '../../domain/access/service-tokens.js';
import type { Database } from '../database.js';

export function serviceTokenStore({ reader }: Database): ServiceTokenStore {
  return {
    findByHash: (hash) =>
      reader
        .selectFrom('service_tokens')
        .where('hash', '=', Buffer.from(hash).toString('base64url'))
        .select(['id', 'kind', 'expires_at as expiresAt', 'revoked_at as revokedAt'])
        .executeTakeFirst(),
  };
}
