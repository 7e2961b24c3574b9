/** Addresses that are filled in when a page is served. */
const PLACES = ['gatewayUrl', 'signOnUrl'] as const;

/** Their placeholder while markdown and code are rendered, which would split braces and addresses. */
const standInOf = (place: string) => `xPLACEx${place}xPLACEx`;

/** The default addresses in the contracts. */
const DEFAULTS: [address: string, place: string][] = [
  ['https://gateway.example.com', '{{gatewayUrl}}'],
  ['https://sign-on.example.com', '{{signOnUrl}}'],
];

export function hidePlaces(text: string): string {
  return PLACES.reduce((result, place) => result.replaceAll(`{{${place}}}`, standInOf(place)), text);
}

export function showPlaces(text: string): string {
  return PLACES.reduce((result, place) => result.replaceAll(standInOf(place), `{{${place}}}`), text);
}

/** The text of a contract, with placeholders for the addresses. */
export function withPlaces(text: string): string {
  return DEFAULTS.reduce((result, [address, place]) => result.replaceAll(address, place), text);
}
