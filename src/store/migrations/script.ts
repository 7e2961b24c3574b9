import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../adapters/statements/dialect.js';

/**
 * A step whose statements both databases take, separated by semicolons. ID is the type of ids, in byte order
 * on both databases, so that pages and ties are equal: PostgreSQL's default is the locale. Without IN ONE
 * TREE, SQLite keeps rows and primary key in two trees.
 */
export const script = (statements: string) => (db: Kysely<unknown>) => runScript(db, statements);

export async function runScript(db: Kysely<unknown>, statements: string): Promise<void> {
  const [idType, inOneTree] = isPostgres(db) ? ['text collate "C"', ''] : ['text', ' without rowid'];
  for (const statement of statements.replaceAll(/--.*/g, '').split(';')) {
    const text = statement
      .trim()
      .replaceAll(/\bID\b/g, idType)
      .replaceAll(' IN ONE TREE', inOneTree);
    if (text !== '') {
      await sql.raw(text).execute(db);
    }
  }
}
