import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { LogPosition } from '../../../../domain/webhooks/logs/page.js';
import type { Rows, Writer } from '../../../database.js';
import { isPostgres } from '../../statements/dialect.js';

type Condition = RawBuilder<SqlBool>;

/** Patterns as in `event-patterns.ts`. Prefixes by length, because text order depends on the locale. */
export function isOfTypes(column: string, patterns: readonly string[]): Condition[] {
  if (patterns.length === 0 || patterns.includes('*')) {
    return [];
  }
  const alternatives = patterns.map((pattern): Condition => {
    const beginning = pattern.slice(0, -1);
    return pattern.endsWith('.*')
      ? sql`substr(${sql.ref(column)}, 1, ${sql.lit(beginning.length)}) = ${beginning}`
      : sql`${sql.ref(column)} = ${pattern}`;
  });
  return [sql`(${sql.join(alternatives, sql` or `)})`];
}

/** None without a value. */
export function isEqual(column: string, value: string | undefined): Condition[] {
  return value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`];
}

export function allOf(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql`1 = 1` : sql`${sql.join(conditions, sql` and `)}`;
}

/** The order of rows of one time. SQLite has it twice, for comparisons by an index; see migration 0012. */
export function placeIn(db: Writer | Rows): 'seq' {
  return isPostgres(db) ? 'seq' : ('place' as 'seq');
}

/** A range of a log, with the narrower of two lower bounds: the planner may pick the wrong one. */
export function between(
  [time, place]: readonly [time: string, place: string],
  { since, until }: { since?: number; until?: number },
  after: LogPosition | undefined,
  upTo?: LogPosition,
): Condition[] {
  const position = sql`(${sql.ref(time)}, ${sql.ref(place)})`;
  const from = [upTo, beginningOf(since)].filter((one) => one !== undefined).sort(byAge);
  const to = [after, beginningOf(until)].filter((one) => one !== undefined).sort(byAge);
  return [
    ...from.slice(-1).map((one): Condition => sql`${position} >= (${one.createdAt}, ${one.seq})`),
    ...to.slice(0, 1).map((one): Condition => sql`${position} < (${one.createdAt}, ${one.seq})`),
  ];
}

/** The place of the row that is `rows` after the beginning of a list by age, newest first. */
export async function placeAhead(
  db: Writer,
  [table, time]: readonly ['deliveries', 'created_at'] | readonly ['events', 'occurred_at'],
  conditions: readonly Condition[],
  rows: number,
): Promise<LogPosition | undefined> {
  const found = await sql<LogPosition>`
    select ${sql.ref(time)} as "createdAt", seq from ${sql.table(table)} where ${allOf(conditions)}
    order by ${sql.ref(time)} desc, ${sql.ref(placeIn(db))} desc limit 1 offset ${rows - 1}
  `.execute(db);
  return found.rows[0];
}

/** The start of a time. */
function beginningOf(time: number | undefined): LogPosition | undefined {
  return time === undefined ? undefined : { createdAt: time, seq: 0 };
}

export function byAge(one: LogPosition, other: LogPosition): number {
  return one.createdAt - other.createdAt || one.seq - other.seq;
}
