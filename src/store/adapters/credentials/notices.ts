import type { AccountId } from '../../../../generated/ids.js';
import type { NoticeRows } from '../../../domain/credentials/notices.js';
import type { Writer } from '../../database.js';
import { behind } from '../keyset.js';

export function noticeRows(db: Writer): NoticeRows {
  return {
    insert: async ({ id, kind, accountId, email, createdAt }) => {
      await db
        .insertInto('account_notices')
        .values({ id, kind, account_id: accountId, email, created_at: createdAt })
        .execute();
    },
    page: async (page) => {
      const rows = await db
        .selectFrom('account_notices')
        .where(behind('account_notices', page))
        .orderBy('created_at')
        .orderBy('id')
        .limit(page.limit)
        .selectAll()
        .execute();
      return rows.map(({ id, kind, account_id, email, created_at }) => ({
        id,
        kind,
        accountId: account_id as AccountId,
        email,
        createdAt: created_at,
      }));
    },
    remove: async (ids) => {
      if (ids.length > 0) {
        await db.deleteFrom('account_notices').where('id', 'in', ids).execute();
      }
    },
  };
}
