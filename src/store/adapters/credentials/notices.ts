import type { AccountId } from '../../../../generated/ids.js';
import type { NoticeRows } from '../../../domain/credentials/notices.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { behind } from '../statements/keyset.js';

export function noticeRows(writer: Writer): NoticeRows {
  const db = camelCased(writer);
  return {
    insert: async (notice) => {
      await db.insertInto('accountNotices').values(notice).execute();
    },
    page: (page) =>
      db
        .selectFrom('accountNotices')
        .where(behind('account_notices', page))
        .orderBy('createdAt')
        .orderBy('id')
        .limit(page.limit)
        .selectAll()
        .$narrowType<{ accountId: AccountId }>()
        .execute(),
    remove: async (ids) => {
      if (ids.length > 0) {
        await db.deleteFrom('accountNotices').where('id', 'in', ids).execute();
      }
    },
  };
}
