import type { Kysely } from 'kysely';
import { idType } from './id-type.js';

/** Instances, integrations, their connections, and credentials. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('environment')
    .addColumn('only_row', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('instances')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('integrations')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('data_versions')
    .addColumn('subject_id', id, (column) => column.primaryKey())
    .addColumn('version', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('instance_integrations')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('integration_id', id, (column) => column.notNull().references('integrations.id'))
    .addColumn('instance_id', id, (column) => column.notNull().references('instances.id'))
    .addColumn('configured_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('instance_integrations_pair', ['integration_id', 'instance_id'])
    .execute();
  await db.schema
    .createIndex('instance_integrations_by_age')
    .on('instance_integrations')
    .columns(['integration_id', 'created_at', 'id'])
    .execute();
  await db.schema
    .createTable('api_keys')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('integration_id', id, (column) => column.notNull().references('integrations.id'))
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('hint', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .addColumn('last_used_at', 'bigint')
    .execute();
  await db.schema
    .createTable('service_tokens')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .execute();
}
