import type { AccountId } from '../../../../generated/ids.js';
import type { IntegrationNotice, NoticeRows, WaitingNotices } from '../../../domain/credentials/notices.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { oldestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';

export function noticeRows(writer: Writer): NoticeRows {
  const db = camelCased(writer);
  return {
    insert: plainWrites(db, 'accountNotices').insert,
    page: (page) =>
      oldestFirst(
        db.selectFrom('accountNotices').selectAll().$narrowType<{ accountId: AccountId }>(),
        'account_notices',
        page,
      ),
    remove: (ids) => remove(writer, 'account_notices', ids),
  };
}

export function integrationNoticeRows(writer: Writer): WaitingNotices<IntegrationNotice> {
  const db = camelCased(writer);
  return {
    page: (page) => oldestFirst(db.selectFrom('integrationNotices').selectAll(), 'integration_notices', page),
    remove: (ids) => remove(writer, 'integration_notices', ids),
  };
}

async function remove(
  writer: Writer,
  table: 'account_notices' | 'integration_notices',
  ids: readonly string[],
): Promise<void> {
  if (ids.length > 0) {
    await writer.deleteFrom(table).where('id', 'in', ids).execute();
  }
}
