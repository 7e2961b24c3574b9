import type { Kysely } from 'kysely';
import { idType } from './id-type.js';

/** Chains of audit records, and idempotency keys per token. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await auditChains(db);
  await idempotencyKeys(db);
}

/** Existing records have no chain and cannot be verified. */
async function auditChains(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('audit_events').addColumn('chain', idType(db)).execute();
  await db.schema.alterTable('audit_events').addColumn('seq', 'bigint').execute();
  await db.schema.alterTable('audit_events').addColumn('hash', 'text').execute();
  await db.schema
    .createIndex('audit_events_by_chain')
    .unique()
    .on('audit_events')
    .columns(['chain', 'seq'])
    .execute();
}

/** SQLite cannot change a primary key. Existing keys get the empty owner and answer any token. */
async function idempotencyKeys(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  const columns = ['method', 'key', 'request_hash', 'response', 'created_at'] as const;
  await db.schema.alterTable('idempotency_keys').renameTo('ownerless_idempotency_keys').execute();
  await db.schema.dropIndex('idempotency_keys_by_age').ifExists().execute();
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('owner_id', id, (column) => column.notNull())
    .addColumn('method', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('request_hash', 'text', (column) => column.notNull())
    .addColumn('response', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_of_owners', ['owner_id', 'method', 'key'])
    .execute();
  const rows = db as Kysely<Record<string, Record<string, unknown>>>;
  await rows
    .insertInto('idempotency_keys')
    .columns(['owner_id', ...columns])
    .expression((from) =>
      from.selectFrom('ownerless_idempotency_keys').select(({ val }) => [val('').as('owner_id'), ...columns]),
    )
    .execute();
  await db.schema.dropTable('ownerless_idempotency_keys').execute();
  await db.schema
    .createIndex('idempotency_keys_by_age')
    .on('idempotency_keys')
    .column('created_at')
    .execute();
}
