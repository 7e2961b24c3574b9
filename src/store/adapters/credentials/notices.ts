import type { AccountId } from '../../../../generated/ids.js';
import type { NoticeRows } from '../../../domain/credentials/notices.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { oldestFirst } from '../statements/keyset.js';

export function noticeRows(writer: Writer): NoticeRows {
  const db = camelCased(writer);
  return {
    insert: async (notice) => {
      await db.insertInto('accountNotices').values(notice).execute();
    },
    page: (page) =>
      oldestFirst(
        db.selectFrom('accountNotices').selectAll().$narrowType<{ accountId: AccountId }>(),
        'account_notices',
        page,
      ),
    remove: async (ids) => {
      if (ids.length > 0) {
        await db.deleteFrom('accountNotices').where('id', 'in', ids).execute();
      }
    },
  };
}
