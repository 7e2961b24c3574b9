import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isPostgres } from '../adapters/statements/dialect.js';

/** What both databases take, or what each of them takes. */
export type Statements = string | ((onPostgres: boolean) => string);

/**
 * A step whose statements both databases take, separated by semicolons. ID is the type of ids, in byte order
 * on both databases, so that pages and ties are equal: PostgreSQL's default is the locale. Without IN ONE
 * TREE, SQLite keeps rows and primary key in two trees.
 */
export const script = (statements: Statements) => (db: Kysely<unknown>) => runScript(db, statements);

export async function runScript(db: Kysely<unknown>, statements: Statements): Promise<void> {
  const onPostgres = isPostgres(db);
  const [idType, inOneTree] = onPostgres ? ['text collate "C"', ''] : ['text', ' without rowid'];
  const given = typeof statements === 'string' ? statements : statements(onPostgres);
  for (const statement of given.replaceAll(/--.*/g, '').split(';')) {
    const text = statement
      .trim()
      .replaceAll(/\bID\b/g, idType)
      .replaceAll(' IN ONE TREE', inOneTree);
    if (text !== '') {
      await sql.raw(text).execute(db);
    }
  }
}

const PIECE = 5_000;

/** The rows of a table by id, read in pieces. */
export async function* rowsById<Row extends { id: string }>(
  db: Kysely<unknown>,
  table: string,
  columns: RawBuilder<unknown>,
): AsyncGenerator<Row> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { rows }: { rows: Row[] } = await sql<Row>`
      select ${columns} from ${sql.table(table)} where id > ${after} order by id limit ${sql.lit(PIECE)}
    `.execute(db);
    yield* rows;
    after = rows.at(-1)?.id;
  }
}
