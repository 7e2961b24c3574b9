import type { Kysely } from 'kysely';
import { idType } from './id-type.js';

/** Addresses that await their proof, and notices to mail. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('email_changes')
    .addColumn('account_id', id, (column) => column.notNull().references('accounts.id'))
    // No reference: it is a client or the platform.
    .addColumn('asker', id, (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('asked_at', 'bigint', (column) => column.notNull())
    .addColumn('link_hash', id, (column) => column.unique())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('email_changes_pair', ['account_id', 'asker'])
    .execute();
  await db.schema.createIndex('email_changes_by_end').on('email_changes').column('expires_at').execute();
  await db.schema
    .createTable('account_notices')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('account_id', id, (column) => column.notNull().references('accounts.id'))
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('account_notices_by_age')
    .on('account_notices')
    .columns(['created_at', 'id'])
    .execute();
}
