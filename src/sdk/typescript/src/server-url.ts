/** Removes a trailing slash; throws for an invalid address. */
export function serverUrl(name: string, address: string): string {
  const isAddress = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
  if (!isAddress) {
    throw new TypeError(`${name} must be an address that begins with https:// or http://.`);
  }
  return address.replace(/\/+$/, '');
}
