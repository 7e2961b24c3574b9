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
  const country = address?.isoCountryCode?.trim();
  if (country && country !== earlier?.isoCountryCode?.trim() && !COUNTRIES.has(country)) {
    const message = 'must be a country code of two capital letters (ISO 3166-1 alpha-2), such as GB';
    violations.add(`${path}.iso_country_code`, message);
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
  violations.givenText('name', named.name);
  validateAddress(violations, 'address', address, earlier?.address);
  violations.throwIfAny();
  return { ...named, ...(address !== undefined && { address: toAddress(address) }) };
}

/** Blank parts are unknown: a form sends them for what was not filled in. */
export function toAddress(address: AddressInput | null | undefined): Address {
  const partOf = (part: keyof Address) => address?.[part]?.trim() || null;
  return {
    address1: partOf('address1'),
    address2: partOf('address2'),
    city: partOf('city'),
    isoCountryCode: partOf('isoCountryCode'),
    postalCode: partOf('postalCode'),
    zoneCode: partOf('zoneCode'),
  };
}

/** ISO 3166-1 alpha-2, as of 2026: officially assigned codes only, so neither `UK` nor `XK`. */
export const COUNTRIES: ReadonlySet<string> = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY
  BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM
  FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT
  JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN
  MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT
  PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL
  TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`.split(/\s+/),
);
