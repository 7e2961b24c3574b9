import type { Address } from '../directory/names.js';
import { snakeCase, trimmed, type Update, updatedFields } from './changes.js';
import { MAX_NAME_LENGTH, Violations } from './violations.js';

/** An address as given; absent parts are unknown. */
export type AddressInput = { readonly [Part in keyof Address]?: string };

/** A country code from before the check may be sent back unchanged: an address is written as a whole. */
export function validateAddress(
  violations: Violations,
  path: string,
  address: AddressInput | null | undefined,
  earlier?: Address | null,
): void {
  for (const [part, text] of Object.entries(address ?? {})) {
    violations.optionalText(`${path}.${snakeCase(part)}`, text, MAX_NAME_LENGTH);
  }
  if (address?.isoCountryCode !== earlier?.isoCountryCode) {
    violations.countryCode(`${path}.iso_country_code`, address?.isoCountryCode);
  }
}

/** What a client and a location have in common. */
export interface PlaceFields {
  name?: string;
  address?: AddressInput;
}

/** The name and address that an update names. `find` reads the present state. */
export async function updatedPlace(
  update: PlaceFields & Update,
  find: () => Promise<{ address: Address } | undefined>,
): Promise<{ name?: string; address?: Address }> {
  const { address, ...named } = updatedFields(trimmed(update, 'name'), ['name'], ['address']);
  const earlier = address ? await find() : undefined;
  const violations = new Violations();
  violations.keptText('name', named.name);
  validateAddress(violations, 'address', address, earlier?.address);
  violations.throwIfAny();
  return { ...named, ...(address !== undefined && { address: toAddress(address) }) };
}

export function toAddress(address: AddressInput | null | undefined): Address {
  return {
    address1: address?.address1 ?? null,
    address2: address?.address2 ?? null,
    city: address?.city ?? null,
    isoCountryCode: address?.isoCountryCode ?? null,
    postalCode: address?.postalCode ?? null,
    zoneCode: address?.zoneCode ?? null,
  };
}
