import type { ExpressionBuilder } from 'kysely';
import type { ConsentKey, ConsentRows } from '../../../domain/sign-on/consents.js';
import type { Writer } from '../../database.js';
import type { Schema } from '../../schema.js';
import { keptStatement } from '../kept-statement.js';

const scopesOf = keptStatement((db, key: ConsentKey) =>
  db.selectFrom('consents').where(isOf(key)).select('scopes'),
);

export function consentRows(db: Writer): ConsentRows {
  return {
    find: async (key) => {
      const [row] = (await scopesOf(db, key)).rows;
      return row ? JSON.parse(row.scopes) : [];
    },
    give: async (key, scopes, at) => {
      // Takes the row, so that of two at once neither loses what the other adds; then it holds what was approved before.
      const { scopes: before } = await db
        .insertInto('consents')
        .values({ ...columnsOf(key), scopes: JSON.stringify([...new Set(scopes)]), given_at: at })
        .onConflict((conflict) =>
          conflict.columns(['account_id', 'application_id', 'instance_id']).doUpdateSet({ given_at: at }),
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
  return { account_id: accountId, application_id: applicationId, instance_id: instanceId };
}

function isOf(key: ConsentKey) {
  return ({ and }: ExpressionBuilder<Schema, 'consents'>) => and(columnsOf(key));
}
