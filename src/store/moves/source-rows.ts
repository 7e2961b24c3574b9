import { isUtf8 } from 'node:buffer';
import type BetterSqlite3 from 'better-sqlite3';
import { Sqlite } from '../better-sqlite3.js';
import { StoreError } from '../store-error.js';
import type { ColumnType, MovedColumn, MovedTable } from './catalogue.js';

/** The form in which rows of both databases are moved and compared: each value as text. */
export type MovedValue = string | null;
export type MovedRow = MovedValue[];

type Stored = string | bigint | number | Buffer | null;

const OPENING_TIMEOUT_MS = 5_000;
const CACHE_KIB = 65_536;
/** A page has at most this many rows, and ends with the row that brings it to this many characters. */
const PAGE = { rows: 2_000, characters: 1_000_000 };
const LARGEST = { integer: 2n ** 31n, bigint: 2n ** 63n };
/** Reading replaces what is not UTF-8 by this character. */
const REPLACEMENT = '\uFFFD';
/** Of a key in a message. */
const MOST_CHARACTERS_SHOWN = 100;

/** A value that PostgreSQL cannot store, or would store as another one. */
export interface OddValue {
  table: string;
  /** The primary key of its row. */
  key: string;
  column: string;
  problem: string;
}

/** Opens the database and takes its write lock, so that no command changes it during the move. */
export function lockSource(file: string): BetterSqlite3.Database {
  const source = new Sqlite(file, { fileMustExist: true, timeout: OPENING_TIMEOUT_MS });
  try {
    // In the order of random keys, each row is on another page.
    source.pragma(`cache_size = -${CACHE_KIB}`);
    source.exec('begin immediate');
    return source;
  } catch (error) {
    source.close();
    throw new StoreError(
      `The database ${file} cannot be locked: ${(error as Error).message}. Stop what uses it, and run the command again.`,
      { cause: error },
    );
  }
}

export function countsOf(
  source: BetterSqlite3.Database,
  tables: readonly MovedTable[],
): Record<string, number> {
  const countOf = (name: string) =>
    source
      .prepare(`select count(*) from ${quoted(name)}`)
      .pluck()
      .get() as number;
  return Object.fromEntries(tables.map(({ name }) => [name, countOf(name)]));
}

/** All rows in the order of their primary key. Reports odd values, in place of which the page has null. */
export function* sourcePages(
  source: BetterSqlite3.Database,
  table: MovedTable,
  onOdd: (odd: OddValue) => void,
): Generator<MovedRow[]> {
  const columns = table.columns.map(({ name }) => quoted(name)).join(', ');
  const order = table.key.map((index) => quoted(table.columns[index]?.name ?? '')).join(', ');
  const rows = source
    .prepare<[], Stored[]>(`select ${columns} from ${quoted(table.name)} order by ${order}`)
    .raw()
    .safeIntegers()
    .iterate();
  const bytesOf = bytesReader(source, table);
  let page: MovedRow[] = [];
  let characters = 0;
  for (const stored of rows) {
    const row = stored.map((value, index) => {
      const column = table.columns[index] as MovedColumn;
      if (!isPlain(value, column.type)) {
        const problem = problemOf(value, column.type, () => bytesOf(stored, index));
        if (problem !== undefined) {
          onOdd({ table: table.name, key: keyOf(table, stored), column: column.name, problem });
          return null;
        }
      }
      const text = value === null ? null : String(value);
      characters += text?.length ?? 0;
      return text;
    });
    page.push(row);
    if (page.length === PAGE.rows || characters >= PAGE.characters) {
      yield page;
      page = [];
      characters = 0;
    }
  }
  if (page.length > 0) {
    yield page;
  }
}

/** The primary key of a row, for a message. */
export function keyOf({ columns, key }: MovedTable, row: readonly (Stored | undefined)[]): string {
  const parts = key.map((index) => `${columns[index]?.name}=${String(row[index])}`);
  const text = JSON.stringify(parts.join(' ')).slice(1, -1);
  return text.length > MOST_CHARACTERS_SHOWN ? `${text.slice(0, MOST_CHARACTERS_SHOWN)}…` : text;
}

/** Most values: they need no closer look. */
function isPlain(value: Stored, type: ColumnType): boolean {
  if (value === null) {
    return true;
  }
  return type === 'text'
    ? typeof value === 'string' && !value.includes('\0') && !value.includes(REPLACEMENT)
    : typeof value === 'bigint' && -LARGEST[type] <= value && value < LARGEST[type];
}

/** SQLite stores values of any type in any column. */
function problemOf(value: Stored, type: ColumnType, bytes: () => Buffer): string | undefined {
  if (type === 'text') {
    return typeof value === 'string' ? problemOfText(value, bytes()) : `is not text but ${kindOf(value)}`;
  }
  return typeof value === 'bigint' ? `is too large for ${type}` : `is not an integer but ${kindOf(value)}`;
}

function problemOfText(text: string, bytes: Buffer): string | undefined {
  if (text.includes('\0')) {
    return 'has a NUL character, which PostgreSQL cannot store';
  }
  return isUtf8(bytes) ? undefined : 'is not valid UTF-8';
}

function kindOf(value: Stored): string {
  if (typeof value === 'string') {
    return 'text';
  }
  return Buffer.isBuffer(value) ? 'a blob' : 'a number';
}

/** Reads a value again, as the bytes that are stored. */
function bytesReader(source: BetterSqlite3.Database, { name, columns, key }: MovedTable) {
  const where = key.map((index) => `${quoted(columns[index]?.name ?? '')} is ?`).join(' and ');
  return (row: readonly Stored[], index: number): Buffer =>
    source
      .prepare(
        `select cast(${quoted(columns[index]?.name ?? '')} as blob) from ${quoted(name)} where ${where}`,
      )
      .pluck()
      .get(...key.map((each) => row[each])) as Buffer;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
