/** An address without the slash at its end; throws where it is none. */
export function serverUrl(name: string, address: string): string {
  const isAddress = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
  if (!isAddress) {
    throw new TypeError(`${name} must be an address that begins with https:// or http://.`);
  }
  return address.replace(/\/+$/, '');
}
