import type { Kysely } from 'kysely';
import { idType } from './id-type.js';

/** Sign-on: passwords, links, sessions, codes, grants and signing keys. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await credentials(db);
  await browsers(db);
  await grants(db);
  await guesses(db);
  await signingKeys(db);
}

async function credentials(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('passwords')
    .addColumn('account_id', id, (column) => column.primaryKey().references('accounts.id'))
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('set_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('account_links')
    .addColumn('token_hash', id, (column) => column.primaryKey())
    .addColumn('account_id', id, (column) => column.notNull().references('accounts.id'))
    .addColumn('purpose', 'text', (column) => column.notNull())
    .addColumn('email_key', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .execute();
  await index(db, 'account_links', 'by_account', ['account_id']);
  await index(db, 'account_links', 'by_end', ['expires_at']);
  await index(db, 'account_links', 'by_end_of_use', ['ended_at']);
}

async function browsers(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('sessions')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('token_hash', id, (column) => column.notNull().unique())
    .addColumn('account_id', id, (column) => column.references('accounts.id'))
    .addColumn('authenticated_at', 'bigint')
    .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'sessions', 'by_account', ['account_id']);
  await index(db, 'sessions', 'by_end', ['expires_at']);
  await index(db, 'sessions', 'by_last_seen', ['last_seen_at']);
  await db.schema
    .createTable('interactions')
    .addColumn('token_hash', id, (column) => column.primaryKey())
    // No reference: an interaction outlives its session, to say how to begin again.
    .addColumn('session_id', id, (column) => column.notNull())
    .addColumn('request', 'text', (column) => column.notNull())
    .addColumn('progress', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('finished_at', 'bigint')
    .execute();
  await index(db, 'interactions', 'by_end', ['expires_at']);
  await db.schema
    .createTable('consents')
    .addColumn('account_id', id, (column) => column.notNull().references('accounts.id'))
    .addColumn('application_id', id, (column) => column.notNull().references('applications.id'))
    .addColumn('instance_id', id, (column) => column.notNull().references('instances.id'))
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('given_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('consents_key', ['account_id', 'application_id', 'instance_id'])
    .execute();
  await db.schema
    .createTable('login_contexts')
    .addColumn('account_id', id, (column) => column.notNull().references('accounts.id'))
    .addColumn('instance_id', id, (column) => column.notNull().references('instances.id'))
    .addColumn('user_type', 'text', (column) => column.notNull())
    .addColumn('client_id', id, (column) => column.notNull().references('clients.id'))
    .addColumn('used_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('login_contexts_pair', ['account_id', 'instance_id'])
    .execute();
}

async function grants(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('authorization_codes')
    .addColumn('hash', id, (column) => column.primaryKey())
    .addColumn('grant_id', id, (column) => column.notNull())
    .addColumn('application_id', id, (column) => column.notNull())
    .addColumn('account_id', id, (column) => column.notNull())
    .addColumn('instance_id', id, (column) => column.notNull())
    .addColumn('redirect_uri', 'text', (column) => column.notNull())
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('code_challenge', 'text')
    .addColumn('nonce', 'text')
    .addColumn('requested_claims', 'text', (column) => column.notNull())
    .addColumn('context_user_type', 'text', (column) => column.notNull())
    .addColumn('context_client_id', id, (column) => column.notNull())
    .addColumn('authenticated_at', 'bigint', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('minute', 'bigint', (column) => column.notNull())
    .addColumn('issued_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'authorization_codes', 'by_minute', ['minute']);
  await index(db, 'authorization_codes', 'by_end', ['expires_at']);
  await index(db, 'authorization_codes', 'by_account', ['account_id']);
  await db.schema
    .createTable('code_minutes')
    .addColumn('minute', 'bigint', (column) => column.primaryKey())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('watched_at', 'bigint')
    .execute();
  await index(db, 'code_minutes', 'by_end', ['expires_at']);
  await db.schema
    .createTable('grants')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('application_id', id, (column) => column.notNull())
    .addColumn('account_id', id, (column) => column.notNull())
    .addColumn('instance_id', id, (column) => column.notNull())
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('authenticated_at', 'bigint', (column) => column.notNull())
    .addColumn('generation', 'integer', (column) => column.notNull())
    .addColumn('rotated_at', 'bigint', (column) => column.notNull())
    .addColumn('refresh_expires_at', 'bigint')
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('revoked_at', 'bigint')
    .execute();
  await index(db, 'grants', 'by_account', ['account_id']);
  await index(db, 'grants', 'by_end', ['expires_at']);
}

async function guesses(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('attempt_counts')
    .addColumn('subject', id, (column) => column.primaryKey())
    .addColumn('count', 'integer', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'attempt_counts', 'by_end', ['ends_at']);
  await db.schema
    .createTable('known_addresses')
    .addColumn('account_id', id, (column) => column.notNull().references('accounts.id'))
    .addColumn('address_hash', id, (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('known_addresses_pair', ['account_id', 'address_hash'])
    .execute();
  await index(db, 'known_addresses', 'by_end', ['expires_at']);
}

async function signingKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('signing_keys')
    .addColumn('kid', idType(db), (column) => column.primaryKey())
    .addColumn('algorithm', 'text', (column) => column.notNull())
    .addColumn('public_jwk', 'text', (column) => column.notNull())
    .addColumn('sealed_private_key', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('activates_at', 'bigint', (column) => column.notNull())
    .addColumn('superseded_at', 'bigint')
    .addColumn('retires_at', 'bigint')
    .addColumn('retired_at', 'bigint')
    .execute();
}

async function index(db: Kysely<unknown>, table: string, name: string, columns: string[]): Promise<void> {
  await db.schema.createIndex(`${table}_${name}`).on(table).columns(columns).execute();
}
