import type { JobTitleRows } from '../../../domain/platform/rows/organization.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { countOfClient } from '../statements/count-of-client.js';

export function jobTitleRows(writer: Writer): JobTitleRows {
  const db = camelCased(writer);
  return {
    has: async (clientId, title) => {
      const row = await db
        .selectFrom('jobTitles')
        .where('clientId', '=', clientId)
        .where('title', '=', title)
        .select('title')
        .executeTakeFirst();
      return row !== undefined;
    },
    page: async (clientId, after, limit) => {
      const rows = await db
        .selectFrom('jobTitles')
        .where('clientId', '=', clientId)
        .$if(after !== undefined, (query) => query.where('title', '>', after as string))
        .orderBy('title')
        .limit(limit)
        .select('title')
        .execute();
      return rows.map(({ title }) => title);
    },
    add: async (clientId, titles) => {
      let added = 0;
      for (const title of titles) {
        const { numInsertedOrUpdatedRows } = await db
          .insertInto('jobTitles')
          .values({ clientId, title })
          .onConflict((conflict) => conflict.columns(['clientId', 'title']).doNothing())
          .executeTakeFirstOrThrow();
        added += Number(numInsertedOrUpdatedRows);
      }
      return added;
    },
    count: countOfClient(db, 'jobTitles'),
    remove: async (clientId, title) => {
      await db.deleteFrom('jobTitles').where('clientId', '=', clientId).where('title', '=', title).execute();
    },
  };
}
