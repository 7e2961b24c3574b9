import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../../adapters/statements/dialect.js';

/** Accounts are found by the beginning of their address. Only in byte order is that a range of an index. */
export async function up(db: Kysely<unknown>): Promise<void> {
  if (isPostgres(db)) {
    await sql`create index accounts_by_address on accounts (email_key collate "C")`.execute(db);
  }
}
