import { type Kysely, sql } from 'kysely';
import { idType } from './id-type.js';

/** Contacts of integrations, notices to mail to them, and the recorded warnings. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema.alterTable('integrations').addColumn('contact_email', 'text').execute();
  // A warning is valid for one failing_since, which a success or a change by an operator resets.
  await db.schema.alterTable('subscriptions').addColumn('warned_failing_since', 'bigint').execute();
  await db.schema
    .alterTable('subscriptions')
    .addColumn('warned_tenths', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createIndex('subscriptions_failing')
    .on('subscriptions')
    .column('failing_since')
    .where(sql.ref('failing_since'), 'is not', null)
    .execute();
  await db.schema
    .createIndex('application_secrets_by_end')
    .on('application_secrets')
    .column('expires_at')
    .execute();
  await db.schema
    .createTable('integration_notices')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('integration_id', id, (column) => column.notNull().references('integrations.id'))
    .addColumn('subscription_id', id, (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('failing_since', 'bigint', (column) => column.notNull())
    .addColumn('disabled_from', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('integration_notices_by_age')
    .on('integration_notices')
    .columns(['created_at', 'id'])
    .execute();
  await db.schema
    .createTable('expiry_warnings')
    .addColumn('kind', id, (column) => column.notNull())
    .addColumn('id', id, (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('days', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('expiry_warnings_key', ['kind', 'id', 'expires_at', 'days'])
    .execute();
  await db.schema.createIndex('expiry_warnings_by_end').on('expiry_warnings').column('expires_at').execute();
}
