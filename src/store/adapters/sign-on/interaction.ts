import type { ExpressionBuilder } from 'kysely';
import type { ClientId } from '../../../../generated/ids.js';
import type { ConsentKey, ConsentRows } from '../../../domain/sign-on/interaction/consents.js';
import type { InteractionRows } from '../../../domain/sign-on/interaction/interactions.js';
import type { LoginContextRows } from '../../../domain/sign-on/interaction/login-contexts.js';
import { camelCased, type Tables } from '../../camel-case.js';
import type { Writer } from '../../database.js';
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

const scopesOf = statement((db, key: ConsentKey) =>
  db.selectFrom('consents').where(isOf(key)).select('scopes'),
);

/** Locks the row, so that concurrent approvals are both kept; returns the earlier scopes. */
const giving = statement((db, row: Tables['consents']) =>
  db
    .insertInto('consents')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['accountId', 'applicationId', 'instanceId'])
        .doUpdateSet(({ ref }) => ({ givenAt: ref('excluded.givenAt') })),
    )
    .returning('scopes'),
);

const addition = statement((db, { scopes, ...key }: ConsentKey & { scopes: string }) =>
  db.updateTable('consents').set({ scopes }).where(isOf(key)),
);

const withdrawal = statement((db, key: ConsentKey) => db.deleteFrom('consents').where(isOf(key)));

export function consentRows(writer: Writer): ConsentRows {
  const db = camelCased(writer);
  return {
    find: async (key) => {
      const [row] = (await scopesOf(db, key)).rows;
      return row ? JSON.parse(row.scopes) : [];
    },
    give: async (key, scopes, at) => {
      const text = JSON.stringify([...new Set(scopes)]);
      const { rows } = await giving(db, { ...columnsOf(key), scopes: text, givenAt: at });
      const approved: string[] = JSON.parse(rows[0]?.scopes ?? text);
      const added = scopes.filter((scope) => !approved.includes(scope));
      if (added.length > 0) {
        const all = JSON.stringify([...new Set([...approved, ...added])]);
        await addition(db, { ...columnsOf(key), scopes: all });
      }
    },
    withdraw: async (key) => changedOne(await withdrawal(db, columnsOf(key))),
  };
}

function columnsOf({ accountId, applicationId, instanceId }: ConsentKey) {
  return { accountId, applicationId, instanceId };
}

function isOf(key: ConsentKey) {
  return ({ and }: ExpressionBuilder<Tables, 'consents'>) => and(columnsOf(key));
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
    remember: (accountId, instanceId, { userType, clientId }, usedAt) =>
      memory(db, { accountId, instanceId, userType, clientId, usedAt }),
  };
}
