import { lookup } from 'node:dns/promises';

/** A server that an address names. */
export interface Place {
  /** What a connection is made to, as gRPC takes it. */
  address: string;
  /** The `host:port` that its certificate must be for, where the address was found by DNS. */
  name?: string;
}

const DNS = 'dns:///';
/** More of one name are left out: each has connections, and is asked for its health twice a second. */
const MOST_OF_A_NAME = 16;

/** Addresses with commas between them, or one socket. */
export function addressesIn(text: string): string[] {
  if (text.startsWith('unix:')) {
    return [text];
  }
  return [...new Set(text.split(',').map((address) => address.trim()))];
}

/** Whether the address is a name with any number of servers behind it. */
export function isName(address: string): boolean {
  return address.startsWith(DNS);
}

/** The servers behind a name. Rejects if it has none. */
export async function placesOf(address: string): Promise<Place[]> {
  const name = address.slice(DNS.length);
  const colon = name.lastIndexOf(':');
  const host = name.slice(0, colon).replace(/^\[|\]$/g, '');
  const found = await lookup(host, { all: true });
  const hosts = found.map(({ address: ip, family }) => (family === 6 ? `[${ip}]` : ip));
  return [...new Set(hosts)]
    .sort()
    .slice(0, MOST_OF_A_NAME)
    .map((ip) => ({ address: `${ip}${name.slice(colon)}`, name }));
}
