import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { firstPublicIdOf } from '../../../identifiers/public-id.js';

type Condition = RawBuilder<SqlBool>;

/** Patterns as in the domain's `event-patterns.ts`. Compared as text of a length, because the order of text depends on the database's language. */
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

export function allOf(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql`1 = 1` : sql`${sql.join(conditions, sql` and `)}`;
}

/** What the ids of deliveries begin with at a time; at the end of what ids can say where the time is beyond. */
export function deliveryIdsFrom(time: number): string {
  const LAST = 62 ** 8 - 1;
  return firstPublicIdOf('DeliveryId', Math.min(Math.max(Math.ceil(time), 0), LAST));
}
