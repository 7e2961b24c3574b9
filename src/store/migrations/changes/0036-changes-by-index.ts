import { type Kysely, PostgresAdapter } from 'kysely';

/**
 * On SQLite, readers of the sequence find in its index all that they need of a change, next to the changes
 * before and after it. By entity, the rows of those who changed lately are all over the table.
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
