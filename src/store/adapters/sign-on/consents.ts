import type { ExpressionBuilder } from 'kysely';
import type { ConsentKey, ConsentRows } from '../../../domain/sign-on/interaction/consents.js';
import { camelCased, type Tables } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { statement } from '../statements/kept-statement.js';

const scopesOf = statement((db, key: ConsentKey) =>
  db.selectFrom('consents').where(isOf(key)).select('scopes'),
);

export function consentRows(writer: Writer): ConsentRows {
  const db = camelCased(writer);
  return {
    find: async (key) => {
      const [row] = (await scopesOf(db, key)).rows;
      return row ? JSON.parse(row.scopes) : [];
    },
    give: async (key, scopes, at) => {
      // Locks the row, so that concurrent approvals are both kept; returns the earlier scopes.
      const { scopes: before } = await db
        .insertInto('consents')
        .values({ ...columnsOf(key), scopes: JSON.stringify([...new Set(scopes)]), givenAt: at })
        .onConflict((conflict) =>
          conflict.columns(['accountId', 'applicationId', 'instanceId']).doUpdateSet({ givenAt: at }),
        )
        .returning('scopes')
        .executeTakeFirstOrThrow();
      const approved: string[] = JSON.parse(before);
      const added = scopes.filter((scope) => !approved.includes(scope));
      if (added.length > 0) {
        await db
          .updateTable('consents')
          .set({ scopes: JSON.stringify([...new Set([...approved, ...added])]) })
          .where(isOf(key))
          .execute();
      }
    },
  };
}

function columnsOf({ accountId, applicationId, instanceId }: ConsentKey) {
  return { accountId, applicationId, instanceId };
}

function isOf(key: ConsentKey) {
  return ({ and }: ExpressionBuilder<Tables, 'consents'>) => and(columnsOf(key));
}
