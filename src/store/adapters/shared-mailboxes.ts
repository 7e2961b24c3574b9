import type { Database } from '../database.js';

const MOST_LISTED = 100;

/** Accounts that share a mailbox with another one. Each start asks for them, so they have an index. */
export function sharedMailboxes({ reader }: Pick<Database, 'reader'>) {
  return reader
    .selectFrom('accounts')
    .where('same_mailbox_as', 'is not', null)
    .orderBy('id')
    .limit(MOST_LISTED)
    .select(['id', 'same_mailbox_as as sameAs'])
    .$narrowType<{ sameAs: string }>()
    .execute();
}
