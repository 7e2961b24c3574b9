import type { ClientId } from '../../../../generated/ids.js';
import type { LoginContextRows } from '../../../domain/sign-on/interaction/login-contexts.js';
import { camelCased, type Tables } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { statement } from '../statements/kept-statement.js';

const memory = statement((db, row: Tables['loginContexts']) =>
  db
    .insertInto('loginContexts')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['accountId', 'instanceId']).doUpdateSet(({ ref }) => ({
        userType: ref('excluded.userType'),
        clientId: ref('excluded.clientId'),
        usedAt: ref('excluded.usedAt'),
      })),
    ),
);

export function loginContextRows(writer: Writer): LoginContextRows {
  const db = camelCased(writer);
  return {
    find: (accountId, instanceId) =>
      db
        .selectFrom('loginContexts')
        .where('accountId', '=', accountId)
        .where('instanceId', '=', instanceId)
        .select(['userType', 'clientId'])
        .$narrowType<{ clientId: ClientId }>()
        .executeTakeFirst(),
    remember: async (accountId, instanceId, { userType, clientId }, usedAt) => {
      await memory(db, { accountId, instanceId, userType, clientId, usedAt });
    },
  };
}
