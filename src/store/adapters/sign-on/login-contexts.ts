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

const remembered = statement((db, of: { accountId: string; instanceId: string }) =>
  db
    .selectFrom('loginContexts')
    .where('accountId', '=', of.accountId)
    .where('instanceId', '=', of.instanceId)
    .select(['userType', 'clientId'])
    .$narrowType<{ clientId: ClientId }>(),
);

export function loginContextRows(writer: Writer): LoginContextRows {
  const db = camelCased(writer);
  return {
    find: async (accountId, instanceId) => (await remembered(db, { accountId, instanceId })).rows[0],
    remember: async (accountId, instanceId, { userType, clientId }, usedAt) => {
      await memory(db, { accountId, instanceId, userType, clientId, usedAt });
    },
  };
}
