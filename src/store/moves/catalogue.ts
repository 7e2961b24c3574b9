import type BetterSqlite3 from 'better-sqlite3';
import { sql } from 'kysely';
import { without } from '../copies/valid-list.js';
import type { Writer } from '../database.js';
import { MOVE_MARK } from '../migrate.js';
import { CopyError } from '../store-error.js';

export interface MovedTable {
  name: string;
  columns: MovedColumn[];
  /** Indexes of the columns of the primary key. */
  key: number[];
}

export interface MovedColumn {
  name: string;
  type: ColumnType;
  /** The sequence that numbers new rows on PostgreSQL. */
  sequence: string | null;
}

const TYPES = ['text', 'integer', 'bigint'] as const;
export type ColumnType = (typeof TYPES)[number];

interface SourceTable {
  name: string;
  columns: { name: string; pk: number }[];
}

type TargetColumn = Omit<MovedColumn, 'type'> & { table: string; type: string };

/** The tables of both databases. A table or column that only one of them has would be lost: refused. */
export async function movedTables(source: BetterSqlite3.Database, target: Writer): Promise<MovedTable[]> {
  const from = tablesOfSource(source);
  const to = await columnsOfTarget(target);
  const here = from.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`));
  const there = to.map(({ table, name }) => `${table}.${name}`);
  const others = [...without(here, there), ...without(there, here)].sort();
  if (others.length > 0) {
    throw new CopyError(
      `The two databases have different tables: only one has ${others.join(', ')}. Nothing was moved.`,
    );
  }
  return from.map(({ name, columns }) => tableOf(name, columns, to));
}

function tableOf(name: string, columns: SourceTable['columns'], to: readonly TargetColumn[]): MovedTable {
  const keyed = columns.flatMap(({ pk }, index) => (pk > 0 ? [{ pk, index }] : []));
  const key = keyed.sort((one, other) => one.pk - other.pk).map(({ index }) => index);
  return {
    name,
    columns: columns.map((column) => columnOf(name, column.name, to)),
    key: key.length > 0 ? key : columns.map((_, index) => index),
  };
}

function columnOf(table: string, name: string, to: readonly TargetColumn[]): MovedColumn {
  const { type = '', sequence = null } = to.find((each) => each.table === table && each.name === name) ?? {};
  if (!TYPES.includes(type as ColumnType)) {
    throw new CopyError(`${table}.${name} has the type ${type}, which this command cannot move.`);
  }
  return { name, type: type as ColumnType, sequence };
}

/** Without generated columns, of which PostgreSQL has none. */
function tablesOfSource(source: BetterSqlite3.Database): SourceTable[] {
  const names = source
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'")
    .pluck()
    .all() as string[];
  const columns = source.prepare<[string], SourceTable['columns'][number]>(
    'select name, pk from pragma_table_info(?) order by cid',
  );
  return names
    .filter(isOfService)
    .sort()
    .map((name) => ({ name, columns: columns.all(name) }));
}

/** Partitions are part of their table. */
async function columnsOfTarget(target: Writer): Promise<TargetColumn[]> {
  const { rows } = await sql<TargetColumn>`
    select class.relname as "table", attribute.attname as name,
      format_type(attribute.atttypid, attribute.atttypmod) as type,
      pg_get_serial_sequence(quote_ident(class.relname), attribute.attname) as sequence
    from pg_class as class join pg_attribute as attribute on attribute.attrelid = class.oid
    where class.relnamespace = (select oid from pg_namespace where nspname = current_schema())
      and class.relkind in ('r', 'p') and not class.relispartition
      and attribute.attnum > 0 and not attribute.attisdropped and attribute.attgenerated = ''
    order by class.relname, attribute.attnum
  `.execute(target);
  return rows.filter(({ table }) => isOfService(table));
}

/** The tables of Kysely, which record the migrations, and those that Litestream adds. */
const NOT_MOVED = /^(kysely_migration|_litestream_)/;

function isOfService(table: string): boolean {
  return !NOT_MOVED.test(table) && table !== MOVE_MARK;
}
