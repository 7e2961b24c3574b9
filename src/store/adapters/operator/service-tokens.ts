import type { ServiceToken, ServiceTokenRows } from '../../../domain/operator/rows/service-tokens.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { newestFirst } from '../statements/keyset.js';
import { inStatus } from './key-status.js';

const columns = [
  'id',
  'kind',
  'instanceId',
  'ownerId',
  'label',
  'createdAt',
  'expiresAt',
  'revokedAt',
  'lastUsedAt',
] as const satisfies readonly (keyof ServiceToken)[];

export function serviceTokenRows(writer: Writer): ServiceTokenRows {
  const db = camelCased(writer);
  const tokens = () =>
    db.selectFrom('serviceTokens').select(columns).$narrowType<Pick<ServiceToken, 'instanceId'>>();
  return {
    find: (id) => tokens().where('id', '=', id).executeTakeFirst(),
    page: async (page, { status, now }) => {
      let query = tokens();
      if (status !== undefined) {
        query = query.where(inStatus(status, now));
      }
      return newestFirst(query, 'service_tokens', page);
    },
    countActive: async (kind, now) => {
      const { count } = await db
        .selectFrom('serviceTokens')
        .where('kind', '=', kind)
        .where(inStatus('active', now))
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    insert: async (token, hash) => {
      await db
        .insertInto('serviceTokens')
        .values({ ...token, hash: Buffer.from(hash).toString('base64url') })
        .execute();
    },
    expire: async (id, at) => {
      await db.updateTable('serviceTokens').set({ expiresAt: at }).where('id', '=', id).execute();
    },
    revoke: async (id, at) => {
      await db.updateTable('serviceTokens').set({ revokedAt: at }).where('id', '=', id).execute();
    },
  };
}
