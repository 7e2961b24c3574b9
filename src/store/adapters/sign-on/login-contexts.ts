import type { ClientId } from '../../../../generated/ids.js';
import type { LoginContextRows } from '../../../domain/sign-on/login-contexts.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { keptStatement } from '../kept-statement.js';

const memory = keptStatement((db, row: Schema['login_contexts']) =>
  db
    .insertInto('login_contexts')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'instance_id']).doUpdateSet(({ ref }) => ({
        user_type: ref('excluded.user_type'),
        client_id: ref('excluded.client_id'),
        used_at: ref('excluded.used_at'),
      })),
    ),
);

export function loginContextRows(db: Writer): LoginContextRows {
  return {
    find: async (accountId, instanceId) => {
      const row = await db
        .selectFrom('login_contexts')
        .where('account_id', '=', accountId)
        .where('instance_id', '=', instanceId)
        .select(['user_type', 'client_id'])
        .executeTakeFirst();
      return row && { userType: row.user_type, clientId: row.client_id as ClientId };
    },
    remember: async (accountId, instanceId, { userType, clientId }, at) => {
      await memory(db, {
        account_id: accountId,
        instance_id: instanceId,
        user_type: userType,
        client_id: clientId,
        used_at: at,
      });
    },
  };
}
