import type { InteractionRows } from '../../../domain/sign-on/interaction/interactions.js';
import type { LoginContextRows } from '../../../domain/sign-on/interaction/login-contexts.js';
import { camelCased, type Tables, type Writer } from '../../database.js';
import { changedOne, posted, statement } from '../statements/kept-statement.js';

const byId = statement((db, { id }: { id: string }) =>
  db.selectFrom('finishedInteractions').where('id', '=', id).select('id'),
);

const ending = statement((db, row: Tables['finishedInteractions']) =>
  db
    .insertInto('finishedInteractions')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing()),
);

export function interactionRows(writer: Writer): InteractionRows {
  const db = camelCased(writer);
  return {
    isFinished: async (id) => (await byId(db, { id })).rows.length > 0,
    finish: async ({ id, expiresAt }) => changedOne(await ending(db, { id, expiresAt })),
  };
}

const memory = posted((db, row: Tables['loginContexts']) =>
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
    remember: (accountId, instanceId, { userType, clientId }, usedAt) =>
      memory(db, { accountId, instanceId, userType, clientId, usedAt }),
  };
}
