import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddr from 'proxy-addr';
import type { Log } from '../../telemetry/log.js';

export interface Network {
  readonly address: string;
  readonly prefix: number;
}

/** The client's address: X-Forwarded-For as far as trusted proxies wrote it. Empty once disconnected. */
export function clientAddress(
  isTrusted: (address: string) => boolean,
  { api, log }: { api: string; log: Log },
): (request: IncomingMessage) => string {
  let hasWarned = false;
  return (request) => {
    const peer = request.socket.remoteAddress;
    if (peer === undefined) {
      return '';
    }
    if (!hasWarned && request.headers['x-forwarded-for'] !== undefined && !isTrusted(peer)) {
      hasWarned = true;
      log.warn('ignored X-Forwarded-For; if the peer is your proxy, add its address to TRUSTED_PROXIES', {
        api,
        peer,
      });
    }
    // A trusted proxy may forward text that is not an address; then the address of the proxy counts.
    const known = proxyAddr.all(request, isTrusted).map(withoutPort);
    return known.findLast((address) => isIP(address) !== 0) ?? peer;
  };
}

export function trusted(proxies: readonly Network[]): (address: string) => boolean {
  const isWithin = proxyAddr.compile(proxies.map(({ address, prefix }) => `${address}/${prefix}`));
  return (address) => isWithin(withoutPort(address), 0);
}

/** Some proxies append the port: `192.0.2.1:443`, `[2001:db8::1]:443`. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/;

function withoutPort(address: string): string {
  const [, ipv6, ipv4] = WITH_PORT.exec(address) ?? [];
  return ipv6 ?? ipv4 ?? address;
}
