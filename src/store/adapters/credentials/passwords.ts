import type { PasswordRows } from '../../../domain/credentials/passwords.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { statement } from '../statements/kept-statement.js';

const ofAccount = statement((db, { accountId }: { accountId: string }) =>
  db.selectFrom('passwords').where('accountId', '=', accountId).select(['hash', 'setAt']),
);

export function passwordRows(writer: Writer): PasswordRows {
  const db = camelCased(writer);
  return {
    find: async (accountId) => (await ofAccount(db, { accountId })).rows[0],
    set: async (accountId, hash, at) => {
      await db
        .insertInto('passwords')
        .values({ accountId, hash, setAt: at })
        .onConflict((conflict) => conflict.column('accountId').doUpdateSet({ hash, setAt: at }))
        .execute();
    },
  };
}
