/** What is filled in when a page is served: addresses, and ids with the example of the contract. */
const PLACE = /\{\{(gatewayUrl|signOnUrl|\w+Id=\w+)\}\}/g;

/** Stands for a placeholder while Markdown and code are rendered, which would split its braces. */
const STAND_IN = /xPLACEx(\w+?)(?:xISx(\w+?))?xPLACEx/g;

/** The default addresses in the contracts. */
const DEFAULTS: [address: string, place: string][] = [
  ['https://gateway.example.com', '{{gatewayUrl}}'],
  ['https://sign-on.example.com', '{{signOnUrl}}'],
];

export function hidePlaces(text: string): string {
  return text.replace(PLACE, (_, place: string) => `xPLACEx${place.replace('=', 'xISx')}xPLACEx`);
}

export function showPlaces(text: string): string {
  return text.replace(STAND_IN, (_, place: string, example?: string) =>
    example === undefined ? `{{${place}}}` : `{{${place}=${example}}}`,
  );
}

/** The text of a contract, with placeholders for the addresses. */
export function withPlaces(text: string): string {
  return DEFAULTS.reduce((result, [address, place]) => result.replaceAll(address, place), text);
}
