import { type Kysely, sql } from 'kysely';
import { isPostgres } from '../adapters/statements/dialect.js';

/** Of SQL, as far as the scripts use it; every other word is a name. */
const KEYWORDS = new Set(
  `add alter always as bigint by column constraint create default drop exists fillfactor generated identity
  if in index integer is not null on primary references rename rowid table text to unique unlogged where with
  without`.split(/\s+/),
);

/**
 * A step whose statements both databases take, separated by semicolons. Names are written without quotes and
 * run with them. ID is the type of ids, in byte order on both databases, so that pages and ties are equal:
 * PostgreSQL's default is the locale. Without IN ONE TREE, SQLite keeps rows and primary key in two trees.
 */
export const script = (statements: string) => (db: Kysely<unknown>) => runScript(db, statements);

export async function runScript(db: Kysely<unknown>, statements: string): Promise<void> {
  const [idType, inOneTree] = isPostgres(db) ? ['text collate "C"', ''] : ['text', ' without rowid'];
  for (const statement of statements.replaceAll(/--.*/g, '').split(';')) {
    const text = statement
      .trim()
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/(?<=\() | (?=\))/g, '')
      .replaceAll(/'[^']*'|primary key|as \(\w+\)|([a-z]\w*)/g, (found, word?: string) =>
        word === undefined || KEYWORDS.has(word) ? found : `"${word}"`,
      )
      .replaceAll(/\bID\b/g, idType)
      .replaceAll(' IN ONE TREE', inOneTree);
    if (text !== '') {
      await sql.raw(text).execute(db);
    }
  }
}
