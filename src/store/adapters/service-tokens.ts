import type { InstanceId } from '../../../generated/ids.js';
import type { ServiceTokenStore } from '../../domain/access/service-tokens.js';
import { camelCased } from '../camel-case.js';
import type { Database } from '../database.js';
import { statement } from './statements/kept-statement.js';
import { markUsed } from './statements/last-use.js';

const byHash = statement((db, { hash }: { hash: string }) =>
  db
    .selectFrom('serviceTokens')
    .where('hash', '=', hash)
    .select(['id', 'kind', 'instanceId', 'ownerId', 'expiresAt', 'revokedAt', 'lastUsedAt'])
    .$narrowType<{ instanceId: InstanceId | null }>(),
);

export function serviceTokenStore({ reader, write }: Database): ServiceTokenStore {
  return {
    findByHash: async (hash) =>
      (await byHash(camelCased(reader), { hash: Buffer.from(hash).toString('base64url') })).rows[0],
    markUsed: (id, at, unlessSince) =>
      write((writer) => markUsed(camelCased(writer), 'serviceTokens', { id, at, unlessSince })),
  };
}
