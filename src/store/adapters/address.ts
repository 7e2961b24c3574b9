import type { Expression } from 'kysely';
import type { Address } from '../../domain/directory/names.js';

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
  return { ...rest, address: { address1, address2, city, isoCountryCode, postalCode, zoneCode } };
}
