import type { PurgeStore } from '../../domain/maintenance/purge.js';
import type { Database } from '../database.js';

export function purgeStore({ write }: Database): PurgeStore {
  const removeFrom = (table: 'api_keys' | 'service_tokens') => (endedBefore: number, limit: number) =>
    write(async (writer) => {
      const ended = writer
        .selectFrom(table)
        .where((where) =>
          where.or([where('revoked_at', '<', endedBefore), where('expires_at', '<', endedBefore)]),
        )
        .select('id')
        .limit(limit);
      const { numDeletedRows } = await writer
        .deleteFrom(table)
        .where('id', 'in', ended)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    });
  return { removeApiKeys: removeFrom('api_keys'), removeServiceTokens: removeFrom('service_tokens') };
}
