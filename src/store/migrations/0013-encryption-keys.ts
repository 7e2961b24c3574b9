import type { Kysely } from 'kysely';
import { idType } from './id-type.js';

/** Encryption keys in use, now or earlier, the keys of each node, and the token keys, which outlive them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('encryption_keys')
    .addColumn('id', id, (column) => column.primaryKey())
    // Of concurrent rotations, one gets the next position.
    .addColumn('position', 'integer', (column) => column.notNull().unique())
    .addColumn('activated_at', 'bigint', (column) => column.notNull())
    .addColumn('retired_at', 'bigint')
    .execute();
  await db.schema
    .createTable('encryption_key_holders')
    .addColumn('node', id, (column) => column.primaryKey())
    .addColumn('key_ids', 'text', (column) => column.notNull())
    .addColumn('used_id', id)
    .addColumn('seen_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('token_keys')
    .addColumn('purpose', id, (column) => column.primaryKey())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
}
