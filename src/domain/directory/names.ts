/** A name and an id. */
export interface Named {
  id: string;
  name: string;
}

/** A postal address; every part may be unknown. */
export interface Address {
  address1: string | null;
  address2: string | null;
  city: string | null;
  isoCountryCode: string | null;
  postalCode: string | null;
  zoneCode: string | null;
}
