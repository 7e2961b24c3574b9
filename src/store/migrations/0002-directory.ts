import type { CreateTableBuilder, Kysely } from 'kysely';
import { idType } from './id-type.js';

/** Clients with users, workers and organization. Lists are read oldest first, so each has such an index. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await people(db);
  await clients(db);
  await organization(db);
  await users(db);
  await workers(db);
  await changes(db);
}

async function people(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('accounts')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('worker_profile_id', id, (column) => column.notNull().unique())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('email_key', 'text', (column) => column.notNull().unique())
    .addColumn('email_verified_at', 'bigint')
    .addColumn('first_name', 'text')
    .addColumn('last_name', 'text')
    .addColumn('disabled_at', 'bigint')
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
}

async function clients(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await withAddress(db.schema.createTable('clients'))
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('instance_id', id, (column) => column.notNull().references('instances.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('clients_by_age')
    .on('clients')
    .columns(['instance_id', 'created_at', 'id'])
    .execute();
  await db.schema
    .createTable('roles')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('client_id', id, (column) => column.notNull().references('clients.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('built_in', 'integer', (column) => column.notNull())
    .addColumn('permissions', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('roles_name', ['client_id', 'name'])
    .execute();
}

async function organization(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('unit_types')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('client_id', id, (column) => column.notNull().references('clients.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('unit_types_name', ['client_id', 'name'])
    .execute();
  await db.schema
    .createTable('units')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('client_id', id, (column) => column.notNull().references('clients.id'))
    .addColumn('unit_type_id', id, (column) => column.notNull().references('unit_types.id'))
    .addColumn('parent_id', id, (column) => column.references('units.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('unit_code', 'text')
    .addColumn('description', 'text')
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('units_by_age')
    .on('units')
    .columns(['client_id', 'created_at', 'id'])
    .execute();
  await db.schema.createIndex('units_by_parent').on('units').column('parent_id').execute();
  await db.schema.createIndex('units_by_type').on('units').column('unit_type_id').execute();
  await withAddress(db.schema.createTable('locations'))
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('client_id', id, (column) => column.notNull().references('clients.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('locations_name', ['client_id', 'name'])
    .execute();
  await db.schema
    .createIndex('locations_by_age')
    .on('locations')
    .columns(['client_id', 'created_at', 'id'])
    .execute();
  await db.schema
    .createTable('job_titles')
    .addColumn('client_id', id, (column) => column.notNull().references('clients.id'))
    .addColumn('title', id, (column) => column.notNull())
    .addPrimaryKeyConstraint('job_titles_pair', ['client_id', 'title'])
    .execute();
}

async function users(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('users')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('client_id', id, (column) => column.notNull().references('clients.id'))
    .addColumn('account_id', id, (column) => column.notNull().references('accounts.id'))
    .addColumn('first_name', 'text')
    .addColumn('last_name', 'text')
    .addColumn('full_name', 'text')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('manager_id', id, (column) => column.references('users.id'))
    .addColumn('role_id', id, (column) => column.references('roles.id'))
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('users_by_age')
    .on('users')
    .columns(['client_id', 'created_at', 'id'])
    .execute();
  await db.schema.createIndex('users_by_account').on('users').column('account_id').execute();
  await db.schema.createIndex('users_by_manager').on('users').column('manager_id').execute();
  await db.schema.createIndex('users_by_role').on('users').column('role_id').execute();
}

async function workers(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await withAddress(db.schema.createTable('workers'))
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('client_id', id, (column) => column.notNull().references('clients.id'))
    .addColumn('account_id', id, (column) => column.notNull().references('accounts.id'))
    .addColumn('first_name', 'text', (column) => column.notNull())
    .addColumn('last_name', 'text', (column) => column.notNull())
    .addColumn('full_name', 'text', (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('phone', 'text')
    .addColumn('job_titles', 'text', (column) => column.notNull())
    .addColumn('location_id', id, (column) => column.references('locations.id'))
    .addColumn('primary_unit_id', id, (column) => column.references('units.id'))
    .addColumn('offboarded_at', 'bigint')
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('workers_by_age')
    .on('workers')
    .columns(['client_id', 'created_at', 'id'])
    .execute();
  await db.schema.createIndex('workers_by_account').on('workers').column('account_id').execute();
  await db.schema.createIndex('workers_by_location').on('workers').column('location_id').execute();
  // For the deletion of a unit, which looks for references.
  await db.schema.createIndex('workers_by_primary_unit').on('workers').column('primary_unit_id').execute();
  await db.schema
    .createTable('worker_units')
    .addColumn('worker_id', id, (column) => column.notNull().references('workers.id'))
    .addColumn('unit_id', id, (column) => column.notNull().references('units.id'))
    .addColumn('position', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('worker_units_pair', ['worker_id', 'unit_id'])
    .execute();
  await db.schema.createIndex('worker_units_by_unit').on('worker_units').column('unit_id').execute();
}

/** The by-products of a write: events, and answers to repeated calls. */
async function changes(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('events')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('occurred_at', 'bigint', (column) => column.notNull())
    .addColumn('instance_id', id, (column) => column.notNull())
    .addColumn('client_id', id, (column) => column.notNull())
    .addColumn('entity_type', 'text', (column) => column.notNull())
    .addColumn('entity_id', id, (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('events_by_age').on('events').columns(['occurred_at', 'id']).execute();
  await db.schema
    .createIndex('events_by_client')
    .on('events')
    .columns(['client_id', 'occurred_at'])
    .execute();
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('method', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('request_hash', 'text', (column) => column.notNull())
    .addColumn('response', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_pair', ['method', 'key'])
    .execute();
  await db.schema
    .createIndex('idempotency_keys_by_age')
    .on('idempotency_keys')
    .column('created_at')
    .execute();
}

/** A postal address; every part may be unknown. */
function withAddress(table: CreateTableBuilder<string, never>): CreateTableBuilder<string, string> {
  return table
    .addColumn('address1', 'text')
    .addColumn('address2', 'text')
    .addColumn('city', 'text')
    .addColumn('iso_country_code', 'text')
    .addColumn('postal_code', 'text')
    .addColumn('zone_code', 'text');
}
