import type { ServiceToken, ServiceTokenRows } from '../../../domain/operator/rows/service-tokens.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { newestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';
import { inStatus } from './key-status.js';

export function serviceTokenRows(writer: Writer): ServiceTokenRows {
  const db = camelCased(writer);
  const { insert, update } = plainWrites(db, 'serviceTokens');
  const tokens = () =>
    db
      .selectFrom('serviceTokens')
      .select(['id', 'kind', 'instanceId', 'ownerId', 'label'])
      .select(['createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'])
      .$narrowType<Pick<ServiceToken, 'instanceId'>>();
  return {
    find: (id) => tokens().where('id', '=', id).executeTakeFirst(),
    page: (page, { status, now }) =>
      newestFirst(tokens().where(inStatus(status, now)), 'service_tokens', page),
    countActive: async (kind, now) => {
      const { count } = await db
        .selectFrom('serviceTokens')
        .where('kind', '=', kind)
        .where(inStatus('active', now))
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    insert: (token, hash) => insert({ ...token, hash: Buffer.from(hash).toString('base64url') }),
    expire: (id, at) => update({ id, expiresAt: at }),
    revoke: (id, at) => update({ id, revokedAt: at }),
  };
}
