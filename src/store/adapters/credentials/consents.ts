import { type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { ConsentKey, ConsentRows } from '../../../domain/credentials/access.js';
import { camelCased, type Tables, type Writer } from '../../database.js';
import { changedOne, statement } from '../statements/kept-statement.js';

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
    page: async (accountId, after, limit) => {
      const found = await db
        .selectFrom('consents')
        .where('accountId', '=', accountId)
        .$if(after !== undefined, (from) =>
          from.where(
            sql<SqlBool>`(application_id, instance_id) > (${after?.applicationId}, ${after?.instanceId})`,
          ),
        )
        .orderBy('applicationId')
        .orderBy('instanceId')
        .limit(limit)
        .selectAll()
        .$narrowType<ConsentKey>()
        .execute();
      return found.map((row) => ({ ...row, scopes: JSON.parse(row.scopes) }));
    },
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
