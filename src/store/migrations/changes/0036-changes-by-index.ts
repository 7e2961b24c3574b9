import { type Kysely, PostgresAdapter } from 'kysely';

/**
 * On SQLite, the index has all columns of a change that readers of the sequence need, so that a page of
 * changes is read from one place. The rows of the table are in the order of entities, and so apart.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  if (db.getExecutor().adapter instanceof PostgresAdapter) {
    return;
  }
  await db.schema.dropIndex('changes_in_order').execute();
  await db.schema
    .createIndex('changes_in_order')
    .on('changes')
    .columns(['instance_id', 'position', 'entity_type', 'entity_id'])
    .columns(['client_id', 'version', 'removed', 'changed_at'])
    .execute();
}
