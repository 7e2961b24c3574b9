import type { Kysely } from 'kysely';
import { idType } from '../id-type.js';

/** Which migrations a node must know to serve the database, and the last one that each running node knows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('required_migrations')
    .addColumn('name', idType(db), (column) => column.primaryKey())
    .execute();
  await db.schema.alterTable('encryption_key_holders').addColumn('newest_migration', 'text').execute();
}
