import type { InstanceId } from '../../../generated/ids.js';
import type { ServiceTokenStore } from '../../domain/access/service-tokens.js';
import type { Database } from '../database.js';

export function serviceTokenStore({ reader, write }: Database): ServiceTokenStore {
  return {
    findByHash: (hash) =>
      reader
        .selectFrom('service_tokens')
        .where('hash', '=', Buffer.from(hash).toString('base64url'))
        .select([
          'id',
          'kind',
          'instance_id as instanceId',
          'owner_id as ownerId',
          'expires_at as expiresAt',
          'revoked_at as revokedAt',
          'last_used_at as lastUsedAt',
        ])
        .$narrowType<{ instanceId: InstanceId | null }>()
        .executeTakeFirst(),
    markUsed: async (id, at, unlessSince) => {
      await write((writer) =>
        writer
          .updateTable('service_tokens')
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
