import type { Address } from '../../domain/directory/names.js';

export const addressColumns = [
  'address1',
  'address2',
  'city',
  'iso_country_code',
  'postal_code',
  'zone_code',
] as const;

type AddressRow = Record<(typeof addressColumns)[number], string | null>;

export function toAddress(row: AddressRow): Address {
  return {
    address1: row.address1,
    address2: row.address2,
    city: row.city,
    isoCountryCode: row.iso_country_code,
    postalCode: row.postal_code,
    zoneCode: row.zone_code,
  };
}

export function fromAddress(address: Address): AddressRow {
  return {
    address1: address.address1,
    address2: address.address2,
    city: address.city,
    iso_country_code: address.isoCountryCode,
    postal_code: address.postalCode,
    zone_code: address.zoneCode,
  };
}
