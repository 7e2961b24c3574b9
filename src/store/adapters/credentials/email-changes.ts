import type { EmailChange, EmailChangeRows } from '../../../domain/credentials/email-changes.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';

export function emailChangeRows(writer: Writer): EmailChangeRows {
  const db = camelCased(writer);
  const changes = () =>
    db.selectFrom('emailChanges').selectAll().$narrowType<Pick<EmailChange, 'accountId' | 'asker'>>();
  return {
    find: (accountId, asker) =>
      changes().where('accountId', '=', accountId).where('asker', '=', asker).executeTakeFirst(),
    findByLink: (linkHash) => changes().where('linkHash', '=', linkHash).executeTakeFirst(),
    ofAccount: (accountId) =>
      changes().where('accountId', '=', accountId).orderBy('askedAt').orderBy('asker').execute(),
    put: async (change) => {
      await db
        .insertInto('emailChanges')
        .values(change)
        .onConflict((conflict) => conflict.columns(['accountId', 'asker']).doUpdateSet(change))
        .execute();
    },
    take: async (linkHash, now) => {
      const { numDeletedRows } = await db
        .deleteFrom('emailChanges')
        .where('linkHash', '=', linkHash)
        .where('expiresAt', '>', now)
        .executeTakeFirstOrThrow();
      return numDeletedRows === 1n;
    },
    end: async (accountId, asker) => {
      await db
        .deleteFrom('emailChanges')
        .where('accountId', '=', accountId)
        .$if(asker !== undefined, (query) => query.where('asker', '=', asker as string))
        .execute();
    },
  };
}
