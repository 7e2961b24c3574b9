import type { PasswordRows } from '../../../domain/credentials/passwords.js';
import type { Writer } from '../../database.js';
import { keptStatement } from '../kept-statement.js';

const ofAccount = keptStatement((db, { accountId }: { accountId: string }) =>
  db.selectFrom('passwords').where('account_id', '=', accountId).select(['hash', 'set_at as setAt']),
);

export function passwordRows(db: Writer): PasswordRows {
  return {
    find: async (accountId) => (await ofAccount(db, { accountId })).rows[0],
    set: async (accountId, hash, at) => {
      await db
        .insertInto('passwords')
        .values({ account_id: accountId, hash, set_at: at })
        .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ hash, set_at: at }))
        .execute();
    },
  };
}
