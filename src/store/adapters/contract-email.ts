import { type RawBuilder, sql } from 'kysely';
import { contractEmailOf } from '../../domain/platform/people/email-addresses.js';

/** The column of an address, computed with each write of it. */
export function contractEmailFor(email: string): string | null {
  const shown = contractEmailOf(email);
  return shown === email ? null : shown;
}

/** The address as the contracts show it. */
export function contractEmailIn(table: string): RawBuilder<string> {
  return sql<string>`coalesce(${sql.ref(`${table}.contractEmail`)}, ${sql.ref(`${table}.email`)})`;
}
