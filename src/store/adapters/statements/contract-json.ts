import { type Expression, type RawBuilder, sql } from 'kysely';
import type { JsonOf } from '../../../domain/directory/contract-json.js';
import type { Rows } from '../../database.js';
import { isPostgres } from './dialect.js';

/** The members of an object of the contract: the compiler accepts no more, no fewer and no other types. */
export type Members<T> = { readonly [Name in keyof T]: Expression<T[Name]> };

/**
 * Builds rows as JSON of the contract in the database. This takes half the time of reading the columns and
 * building the JSON here.
 */
interface ContractJson {
  /** The finished text. A value inside another one is no text yet. */
  text<T>(value: Expression<T>): RawBuilder<JsonOf<T>>;
  object<T extends object>(members: Members<T>): RawBuilder<T>;
  /** The object, or null where an outer join has found no row. */
  joined<T extends object>(id: Expression<string | null>, members: Members<T>): RawBuilder<T | null>;
  /** Of the rows of a subquery, which is raw SQL behind `from`. */
  list<T>(value: Expression<T>, rows: RawBuilder<unknown>, orderBy: Expression<unknown>): RawBuilder<T[]>;
  /** A column that contains JSON. */
  stored<T>(column: Expression<string>): RawBuilder<T>;
  /** ISO 8601 with milliseconds, in UTC; for years of four digits. */
  time<At extends number | null>(column: Expression<At>): RawBuilder<string | Extract<At, null>>;
}

export function contractJson(db: Rows): ContractJson {
  return isPostgres(db) ? onPostgres : onSqlite;
}

const entriesOf = (members: object) => Object.entries(members) as [string, Expression<unknown>][];

const onSqlite: ContractJson = {
  text: (value) => sql`${value}`,
  object: (members) =>
    sql`json_object(${sql.join(entriesOf(members).flatMap(([name, value]) => [sql.lit(name), value]))})`,
  // SQLite may forget within `case` and subqueries that a text is JSON.
  joined: (id, members) => sql`json(case when ${id} is not null then ${onSqlite.object(members)} end)`,
  list: (value, rows, orderBy) =>
    sql`json((select json_group_array(${value} order by ${orderBy}) from ${rows}))`,
  stored: (column) => sql`json(${column})`,
  time: (column) => sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`,
};

const onPostgres: ContractJson = {
  text: (value) => sql`(${value})::text`,
  // `json_build_object` and `json_agg` would write spaces, and `jsonb` would order the members.
  object: (members) =>
    sql`(select to_json(members) from (select ${sql.join(
      entriesOf(members).map(([name, value]) => sql`${value} as ${sql.raw(`"${name}"`)}`),
    )}) as members)`,
  joined: (id, members) => sql`case when ${id} is not null then ${onPostgres.object(members)} end`,
  list: (value, rows, orderBy) =>
    sql`(select ('[' || coalesce(string_agg((${value})::text, ',' order by ${orderBy}), '') || ']')::json
      from ${rows})`,
  stored: (column) => sql`${column}::json`,
  // Whole seconds and milliseconds apart: fractions of a double would lose milliseconds.
  time: (column) =>
    sql`to_char(to_timestamp(floor(${column} / 1000.0)) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
      || '.' || lpad(((${column} % 1000 + 1000) % 1000)::text, 3, '0') || 'Z'`,
};
