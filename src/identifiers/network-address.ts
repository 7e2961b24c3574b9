import { isIPv6 } from 'node:net';

const GROUPS = 8;

/** Of `127.0.0.1:4002` or `[::1]:4002`. */
export function hostAndPortOf(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) };
}

/** The reverse of that: IPv6 gets brackets. */
export function addressOf({ host, port }: { host: string; port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** In canonical text: the IPv4 address, or the /48 of an IPv6 address, which one customer may have. */
export function networkOf(address: string): string {
  return placeOf(address, 3);
}

/** The same with 64 bits: mobile providers give each customer a /64, so a /48 may be many people. */
export function subnetOf(address: string): string {
  return placeOf(address, 4);
}

function placeOf(address: string, groupsInCommon: number): string {
  if (!isIPv6(address)) {
    return address;
  }
  const groups = groupsOf(address);
  const isMappedIpv4 = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  return isMappedIpv4
    ? groups.slice(6).flatMap(bytesOf).join('.')
    : `${groups.slice(0, groupsInCommon).join(':')}::/${groupsInCommon * 16}`;
}

/** The URL parser accepts every spelling and returns one. */
function groupsOf(address: string): string[] {
  const [bare] = address.split('%');
  const canonical = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const [left = [], right = []] = canonical.split('::').map((half) => half.split(':').filter(Boolean));
  return [...left, ...Array<string>(GROUPS - left.length - right.length).fill('0'), ...right];
}

function bytesOf(group: string): number[] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 0xff];
}
