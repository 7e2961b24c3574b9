import { type Kysely, sql } from 'kysely';

/** Each start asks for accounts that share a mailbox. They are few, and the index has only them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('accounts_sharing_mailboxes')
    .on('accounts')
    .columns(['id', 'same_mailbox_as'])
    .where(sql.ref('same_mailbox_as'), 'is not', null)
    .execute();
}
