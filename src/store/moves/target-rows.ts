import { type RawBuilder, sql } from 'kysely';
import type { Writer } from '../database.js';
import { CopyError } from '../store-error.js';
import type { MovedTable } from './catalogue.js';
import { keyOf, type MovedRow, type MovedValue } from './source-rows.js';

/** One statement, with one array for each column. */
export async function insertRows(
  writer: Writer,
  { name, columns }: MovedTable,
  rows: readonly MovedRow[],
): Promise<void> {
  const names = sql.join(columns.map((column) => sql.ref(column.name)));
  const arrays = columns.map(({ type }, index) => sql`${rows.map((row) => row[index])}::${sql.raw(type)}[]`);
  await sql`
    insert into ${sql.table(name)} (${names}) overriding system value
    select * from unnest(${sql.join(arrays)})
  `.execute(writer);
}

/** New rows continue after the greatest number. */
export async function continueSequences(writer: Writer, { name, columns }: MovedTable): Promise<void> {
  for (const { name: column, sequence } of columns) {
    if (sequence !== null) {
      await sql`
        select setval(${sequence}::regclass, max(${sql.ref(column)})) from ${sql.table(name)}
        having max(${sql.ref(column)}) is not null
      `.execute(writer);
    }
  }
}

/** Compares each row with its source. Both sides are in the byte order of the primary key. */
export async function compareRows(
  writer: Writer,
  table: MovedTable,
  pages: Iterable<MovedRow[]>,
  onCompared: (count: number) => void,
): Promise<void> {
  await sql`declare moved no scroll cursor for ${asTexts(table)}`.execute(writer);
  for (const page of pages) {
    const found = await fetched(writer, page.length);
    for (const [index, row] of page.entries()) {
      assertSame(table, row, found[index]);
    }
    onCompared(page.length);
  }
  const [further] = await fetched(writer, 1);
  if (further !== undefined) {
    const key = keyOf(table, valuesOf(table, further));
    throw new CopyError(`The table ${table.name} of PostgreSQL has a row too many: ${key}. ${NOT_MOVED}`);
  }
  await sql`close moved`.execute(writer);
}

const NOT_MOVED = 'Nothing was moved.';

function asTexts({ name, columns, key }: MovedTable): RawBuilder<unknown> {
  const texts = columns.map((column) => sql`${sql.ref(column.name)}::text as ${sql.ref(column.name)}`);
  const order = key.map((index) => {
    const { name: column = '', type } = columns[index] ?? {};
    // Of the table, because an alias for the text would be preferred.
    const value = sql.ref(`${name}.${column}`);
    return type === 'text' ? sql`${value} collate "C"` : value;
  });
  return sql`select ${sql.join(texts)} from ${sql.table(name)} order by ${sql.join(order)}`;
}

async function fetched(writer: Writer, count: number): Promise<Record<string, MovedValue>[]> {
  const { rows } = await sql<Record<string, MovedValue>>`fetch forward ${sql.lit(count)} from moved`.execute(
    writer,
  );
  return rows;
}

function valuesOf({ columns }: MovedTable, row: Record<string, MovedValue>): MovedRow {
  return columns.map(({ name }) => row[name] as MovedValue);
}

/** Names the place of a difference, not the values: they may be secret. */
function assertSame(table: MovedTable, row: MovedRow, found: Record<string, MovedValue> | undefined): void {
  const { name, columns } = table;
  const different = columns.findIndex((column, index) => found?.[column.name] !== row[index]);
  if (different === -1) {
    return;
  }
  const key = keyOf(table, row);
  const other = found && keyOf(table, valuesOf(table, found));
  const difference =
    other === key
      ? `another value in the column ${columns[different]?.name} of the row ${key}`
      : `${other === undefined ? 'no row' : `the row ${other}`} in place of ${key}`;
  throw new CopyError(`The table ${name} of PostgreSQL has ${difference}. ${NOT_MOVED}`);
}
