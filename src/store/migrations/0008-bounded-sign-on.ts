import { type Kysely, sql } from 'kysely';
import { idType } from './id-type.js';

/** Strangers leave no rows: what is under way travels with the page. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await interactions(db);
  await turns(db);
}

async function interactions(db: Kysely<unknown>): Promise<void> {
  const id = idType(db);
  await db.schema
    .createTable('finished_interactions')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('finished_interactions_by_end')
    .on('finished_interactions')
    .column('expires_at')
    .execute();
  await db.schema.dropTable('interactions').execute();
  await db.schema.alterTable('sessions').addColumn('began_as', id).execute();
  await sql`delete from sessions where account_id is null`.execute(db);
}

/** Guesses wait for their turn; browsers that are known say so themselves, by a signed cookie. */
async function turns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('attempt_counts')
    .addColumn('next_at', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema.dropTable('known_addresses').execute();
}
