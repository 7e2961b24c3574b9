import type { JobTitleRows } from '../../../domain/platform/job-titles.js';
import type { Writer } from '../../database.js';

export function jobTitleRows(writer: Writer): JobTitleRows {
  return {
    has: async (clientId, title) => {
      const row = await writer
        .selectFrom('job_titles')
        .where('client_id', '=', clientId)
        .where('title', '=', title)
        .select('title')
        .executeTakeFirst();
      return row !== undefined;
    },
    page: async (clientId, after, limit) => {
      const rows = await writer
        .selectFrom('job_titles')
        .where('client_id', '=', clientId)
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
        const { numInsertedOrUpdatedRows } = await writer
          .insertInto('job_titles')
          .values({ client_id: clientId, title })
          .onConflict((conflict) => conflict.columns(['client_id', 'title']).doNothing())
          .executeTakeFirstOrThrow();
        added += Number(numInsertedOrUpdatedRows);
      }
      return added;
    },
    remove: async (clientId, title) => {
      await writer
        .deleteFrom('job_titles')
        .where('client_id', '=', clientId)
        .where('title', '=', title)
        .execute();
    },
  };
}
