import type { InstanceId } from '../../../generated/ids.js';
import type { ServiceTokenStore } from '../../domain/access/service-tokens.js';
import { camelCased } from '../camel-case.js';
import type { Database } from '../database.js';

export function serviceTokenStore({ reader, write }: Database): ServiceTokenStore {
  return {
    findByHash: (hash) =>
      camelCased(reader)
        .selectFrom('serviceTokens')
        .where('hash', '=', Buffer.from(hash).toString('base64url'))
        .select(['id', 'kind', 'instanceId', 'ownerId', 'expiresAt', 'revokedAt', 'lastUsedAt'])
        .$narrowType<{ instanceId: InstanceId | null }>()
        .executeTakeFirst(),
    markUsed: async (id, at, unlessSince) => {
      await write((writer) =>
        camelCased(writer)
          .updateTable('serviceTokens')
          .set({ lastUsedAt: at })
          .where('id', '=', id)
          .where((where) =>
            where.or([where('lastUsedAt', 'is', null), where('lastUsedAt', '<', unlessSince)]),
          )
          .execute(),
      );
    },
  };
}
