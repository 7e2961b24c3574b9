import type { Kysely } from 'kysely';

/** The environment has the issuer of its tokens, and each running domain node the one of its settings. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['environment', 'encryption_key_holders']) {
    await db.schema.alterTable(table).addColumn('issuer', 'text').execute();
  }
}
