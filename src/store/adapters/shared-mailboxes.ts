import type { Database } from '../database.js';

const MOST_LISTED = 100;

/** Accounts that share a mailbox with another one. Each start asks for them, so they have an index. */
export async function sharedMailboxes({ reader }: Pick<Database, 'reader'>) {
  const rows = await reader
    .selectFrom('accounts')
    .where('same_mailbox_as', 'is not', null)
    .orderBy('id')
    .limit(MOST_LISTED)
    .select(['id', 'same_mailbox_as'])
    .execute();
  return rows.map(({ id, same_mailbox_as }) => ({ id, sameAs: same_mailbox_as ?? '' }));
}
