import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Address, Named } from '../../domain/directory/names.js';
import { contractEmailOf } from '../../domain/platform/people/email-addresses.js';

/** The members of an address, from the columns of a table. */
export function addressMembers<Column>(column: (name: keyof Address) => Expression<Column>): {
  [Name in keyof Address]: Expression<Column>;
} {
  return {
    address1: column('address1'),
    address2: column('address2'),
    city: column('city'),
    isoCountryCode: column('isoCountryCode'),
    postalCode: column('postalCode'),
    zoneCode: column('zoneCode'),
  };
}

/** Of a row with the columns of an address. */
export function withAddress<Row extends Address>(row: Row): Omit<Row, keyof Address> & { address: Address } {
  const { address1, address2, city, isoCountryCode, postalCode, zoneCode, ...rest } = row;
  return { ...rest, address: addressIn(row) };
}

export function addressIn(row: Address): Address {
  const { address1, address2, city, isoCountryCode, postalCode, zoneCode } = row;
  return { address1, address2, city, isoCountryCode, postalCode, zoneCode };
}

/** The column of an email address, computed with each write of it. */
export function contractEmailFor(email: string): string | null {
  const shown = contractEmailOf(email);
  return shown === email ? null : shown;
}

/** The email address as the contracts show it. */
export function contractEmailIn(table: string): RawBuilder<string> {
  return sql<string>`coalesce(${sql.ref(`${table}.contractEmail`)}, ${sql.ref(`${table}.email`)})`;
}

/** The email address that a user shows. */
export function shownEmailIn(user: string, account: string): RawBuilder<string> {
  return sql<string>`coalesce(${sql.ref(`${user}.knownEmail`)}, ${contractEmailIn(account)})`;
}

/** The row that an outer join found; null if it found none. */
export function namedOrNull(id: string | null | undefined, name: string | null | undefined): Named | null {
  return id && name != null ? { id, name } : null;
}
