import type { PasswordRows } from '../../../domain/credentials/passwords.js';
import type { Writer } from '../../database.js';

export function passwordRows(db: Writer): PasswordRows {
  return {
    find: (accountId) =>
      db
        .selectFrom('passwords')
        .where('account_id', '=', accountId)
        .select(['hash', 'set_at as setAt'])
        .executeTakeFirst(),
    set: async (accountId, hash, at) => {
      await db
        .insertInto('passwords')
        .values({ account_id: accountId, hash, set_at: at })
        .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ hash, set_at: at }))
        .execute();
    },
  };
}
