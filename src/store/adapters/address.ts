import type { Address } from '../../domain/directory/names.js';

export const addressColumns = [
  'address1',
  'address2',
  'city',
  'isoCountryCode',
  'postalCode',
  'zoneCode',
] as const satisfies readonly (keyof Address)[];

export function addressIn({
  address1,
  address2,
  city,
  isoCountryCode,
  postalCode,
  zoneCode,
}: Address): Address {
  return { address1, address2, city, isoCountryCode, postalCode, zoneCode };
}

/** Of a row with the columns of an address. */
export function withAddress<Row extends Address>(row: Row): Omit<Row, keyof Address> & { address: Address } {
  const { address1, address2, city, isoCountryCode, postalCode, zoneCode, ...rest } = row;
  return { ...rest, address: { address1, address2, city, isoCountryCode, postalCode, zoneCode } };
}
