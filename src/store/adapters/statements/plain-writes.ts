import {
  type Compilable,
  type CompiledQuery,
  type Insertable,
  type Kysely,
  sql,
  type Updateable,
} from 'kysely';
import type { Rows, Tables } from '../../database.js';
import { postCompiled } from '../../dialects/direct-statements.js';
import { named } from '../../dialects/postgres/named-statements.js';
import { changedOne, keep, placeholders, posted, statement } from './kept-statement.js';

type Row = { id: string };

/** Stands for every table. */
type Db = Kysely<{ table: Row }>;
type Table = 'table';
type Build = (db: Db, table: Table, row: Row) => Compilable<unknown>;
type Write = (db: Rows, row: Row) => Promise<void>;

const insertRow: Build = (db, table, row) => db.insertInto(table).values(row);
const updateRow: Build = (db, table, { id, ...fields }) =>
  db.updateTable(table).set(fields).where('id', '=', id);
const deleteRow: Build = (db, table, { id }) => db.deleteFrom(table).where('id', '=', id);

const insertion = perColumns(insertRow, posted<Row>);
const change = perColumns(updateRow, posted<Row>);
const deletion = perColumns(deleteRow, posted<Row>);
const certainChange = perColumns(updateRow, certain);
const certainDeletion = perColumns(deleteRow, certain);

/** The writes of rows of a table; those of existing rows find them by `id`. */
export function plainWrites<Name extends keyof Tables>(db: Rows, name: Name) {
  return {
    insert: (row: Insertable<Tables[Name]>): Promise<void> => insertion(db, name, row as unknown as Row),
    update: (row: Updateable<Tables[Name]> & Row): Promise<void> => change(db, name, row),
    /** Writes the same columns of many rows in few statements: texts, and one time for all. */
    updateMany: (rows: readonly Change[]): Promise<void> => changeMany(db, name, rows),
    delete: (id: string): Promise<void> => deletion(db, name, { id }),
  };
}

/**
 * The same for rows that let callers in: waits for the answer, and throws unless one row was changed. A
 * trigger that leaves the row as it is raises no error, and the caller would be told that access has ended.
 */
export function certainWrites<Name extends keyof Tables>(db: Rows, name: Name) {
  return {
    update: (row: Updateable<Tables[Name]> & Row): Promise<void> => certainChange(db, name, row),
    delete: (id: string): Promise<void> => certainDeletion(db, name, { id }),
  };
}

function certain(build: (rows: Rows, row: Row) => Compilable<unknown>): Write {
  const write = statement(build);
  return async (rows, row) => {
    if (!changedOne(await write(rows, row))) {
      throw new Error(
        `The database did not change ${row.id}, so the write is undone. A trigger or a rule may prevent it.`,
      );
    }
  };
}

/** A kept statement for each table and set of columns. */
function perColumns(build: Build, write: (build: (rows: Rows, row: Row) => Compilable<unknown>) => Write) {
  const kept = new Map<string, Write>();
  return async (db: Rows, name: keyof Tables, given: Row): Promise<void> => {
    const row = Object.values(given).includes(undefined as never) ? withoutMissing(given) : given;
    const signature = [name, ...Object.keys(row)].join();
    const keptWrite =
      kept.get(signature) ?? write((rows, values) => build(rows as unknown as Db, name as Table, values));
    kept.set(signature, keptWrite);
    await keptWrite(db, row);
  };
}

/** As Kysely does, which would otherwise find a placeholder in their place. */
function withoutMissing(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as Row;
}

const MOST_ROWS = 64;

/**
 * Outside `keptInsertion`: a kept statement keeps this function, which there would keep the rows of the first
 * call.
 */
function rowAt<Row>(row: number): (given: readonly Required<Row>[]) => Required<Row> {
  return (given) => given[row] as Required<Row>;
}

type InsertionOf<Row, Answer> = (db: Rows, rows: readonly Required<Row>[]) => Promise<Answer>;

/**
 * Inserts any number of rows with few prepared statements, for 64 rows, 32, and so on. The first row names
 * the columns of all, so a row may leave none out. `build` may only pass their values on to Kysely.
 */
export function keptInsertion<Row extends object, Answer = void>(
  build: (db: Rows, rows: readonly Required<Row>[]) => Compilable<unknown>,
  run: (db: Rows, compiled: CompiledQuery, parameters: readonly unknown[]) => Promise<Answer>,
): InsertionOf<Row, Answer[]> {
  const ofSize = new Map<number, InsertionOf<Row, Answer>>();
  const placeholdersFor = (rows: readonly Required<Row>[]): readonly Required<Row>[] =>
    rows.map((_, row) => placeholders(rows[0] as Required<Row>, rowAt(row)));
  return async (db, rows) => {
    const answers: Answer[] = [];
    let size = MOST_ROWS;
    for (let from = 0; from < rows.length; from += size) {
      while (size > rows.length - from) {
        size /= 2;
      }
      const insertion = ofSize.get(size) ?? keep(build, run, named, placeholdersFor);
      ofSize.set(size, insertion);
      answers.push(await insertion(db, rows.slice(from, from + size)));
    }
    return answers;
  };
}

type Change = Row & { updatedAt: number } & { readonly [column: string]: unknown };

const changesOfMany = new Map<string, ReturnType<typeof changeOfMany>>();

/** The first row names the columns of all, as above. */
async function changeMany(db: Rows, name: keyof Tables, rows: readonly Change[]): Promise<void> {
  const [first, ...others] = rows;
  if (first && others.length === 0) {
    return change(db, name, first);
  }
  const columns = Object.keys(first ?? {}).filter(
    (column) => column !== 'updatedAt' && first?.[column] !== undefined,
  );
  const signature = [name, ...columns].join();
  const ofMany = changesOfMany.get(signature) ?? changeOfMany(name, columns);
  changesOfMany.set(signature, ofMany);
  await ofMany(db, rows);
}

function changeOfMany(name: keyof Tables, columns: readonly string[]) {
  return keptInsertion((db, rows: readonly Change[]) => {
    const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
    // Both databases name the columns of values in this way.
    const given = columns.map((column, index) => [column, sql.ref(`given.column${index + 1}`)]);
    const { id, ...changed } = Object.fromEntries(given);
    return (db as unknown as Db)
      .updateTable(name as Table)
      .from(sql<Row>`(values ${sql.join(values)})`.as('given'))
      .set({ ...changed, updatedAt: rows[0]?.updatedAt })
      .where(sql.ref(`${name}.id`), '=', id);
  }, postCompiled);
}
