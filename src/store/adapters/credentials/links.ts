import type { AccountLink, LinkRows } from '../../../domain/credentials/links.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';

export function linkRows(writer: Writer): LinkRows {
  const db = camelCased(writer);
  return {
    find: (tokenHash) =>
      db
        .selectFrom('accountLinks')
        .where('tokenHash', '=', tokenHash)
        .selectAll()
        .$narrowType<Pick<AccountLink, 'accountId'>>()
        .executeTakeFirst(),
    insert: async (link) => {
      await db.insertInto('accountLinks').values(link).execute();
    },
    use: async (tokenHash, now) => {
      const { numUpdatedRows } = await db
        .updateTable('accountLinks')
        .set({ endedAt: now })
        .where('tokenHash', '=', tokenHash)
        .where('endedAt', 'is', null)
        .where('expiresAt', '>', now)
        .executeTakeFirstOrThrow();
      return numUpdatedRows === 1n;
    },
    endOfAccount: async (accountId, purposes, now) => {
      if (purposes.length > 0) {
        await db
          .updateTable('accountLinks')
          .set({ endedAt: now })
          .where('accountId', '=', accountId)
          .where('purpose', 'in', purposes)
          .where('endedAt', 'is', null)
          .execute();
      }
    },
  };
}
