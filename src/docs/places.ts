/** The addresses that are filled in when a page is served. */
const PLACES = ['gatewayUrl', 'signOnUrl'] as const;

/** What stands for them while markdown and code are rendered, which take braces and addresses apart, but no word. */
const standInOf = (place: string) => `xPLACEx${place}xPLACEx`;

/** The addresses that the contracts have by default. */
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

/** The text of a contract, with places for the addresses. */
export function withPlaces(text: string): string {
  return DEFAULTS.reduce((result, [address, place]) => result.replaceAll(address, place), text);
}
