import type { Kysely } from 'kysely';
import { idType } from './id-type.js';

/** What operators register: applications, versions of earlier tables, and the audit log. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await versions(db);
  await applications(db);
  await applicationParts(db);
  await auditEvents(db);
}

/** Existing rows have the empty version. */
async function versions(db: Kysely<unknown>): Promise<void> {
  for (const table of ['integrations', 'instance_integrations', 'api_keys']) {
    await db.schema
      .alterTable(table)
      .addColumn('version', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  }
  await db.schema.alterTable('service_tokens').addColumn('last_used_at', 'bigint').execute();
  await db.schema
    .createIndex('api_keys_by_integration')
    .on('api_keys')
    .columns(['integration_id', 'created_at', 'id'])
    .execute();
  await db.schema
    .createIndex('instance_integrations_by_instance')
    .on('instance_integrations')
    .columns(['instance_id', 'created_at', 'id'])
    .execute();
}

async function applications(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('applications')
    .addColumn('id', idType(db), (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('enabled', 'integer', (column) => column.notNull())
    .addColumn('allowed_scopes', 'text', (column) => column.notNull())
    .addColumn('allowed_grant_types', 'text', (column) => column.notNull())
    .addColumn('require_pkce', 'integer', (column) => column.notNull())
    .addColumn('first_party', 'integer', (column) => column.notNull())
    .addColumn('id_token_algorithm', 'text', (column) => column.notNull())
    .addColumn('access_token_seconds', 'integer')
    .addColumn('refresh_token_seconds', 'integer')
    .addColumn('id_token_seconds', 'integer')
    .addColumn('post_logout_redirect_uris', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
}

async function applicationParts(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('application_redirect_uris')
    .addColumn('application_id', id, (column) => column.notNull().references('applications.id'))
    .addColumn('uri', id, (column) => column.notNull())
    .addColumn('instance_id', id, (column) => column.notNull().references('instances.id'))
    .addColumn('position', 'integer', (column) => column.notNull())
    // An address of an application belongs to exactly one instance.
    .addPrimaryKeyConstraint('application_redirect_uris_pair', ['application_id', 'uri'])
    .execute();
  await db.schema
    .createIndex('application_redirect_uris_by_instance')
    .on('application_redirect_uris')
    .column('instance_id')
    .execute();
  await db.schema
    .createTable('application_secrets')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('application_id', id, (column) => column.notNull().references('applications.id'))
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('last_used_at', 'bigint')
    .execute();
  await db.schema
    .createIndex('application_secrets_by_application')
    .on('application_secrets')
    .column('application_id')
    .execute();
}

async function auditEvents(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('audit_events')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    // In byte order, so that a prefix is a range.
    .addColumn('type', id, (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('actor_type', 'text', (column) => column.notNull())
    .addColumn('actor_id', id, (column) => column.notNull())
    .addColumn('subject_type', 'text')
    .addColumn('subject_id', id)
    .addColumn('request_id', 'text')
    .addColumn('remote_address', 'text')
    .addColumn('attributes', 'text', (column) => column.notNull())
    .execute();
  for (const [name, columns] of [
    ['audit_events_by_age', ['created_at', 'id']],
    ['audit_events_by_actor', ['actor_id', 'created_at', 'id']],
    ['audit_events_by_subject', ['subject_id', 'created_at', 'id']],
  ] as const) {
    await db.schema
      .createIndex(name)
      .on('audit_events')
      .columns([...columns])
      .execute();
  }
}
