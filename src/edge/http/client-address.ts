import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddr from 'proxy-addr';
import type { Log } from '../../telemetry/log.js';

export interface Network {
  readonly address: string;
  readonly prefix: number;
}

export interface ClientAddressOptions {
  trustedProxies: readonly Network[];
  /** Which listener is asked, for the log. */
  api: string;
  log: Log;
}

/** The address a request came from: X-Forwarded-For is believed as far as trusted proxies wrote it, and no further. Empty once the client is gone. */
export function clientAddress({
  trustedProxies,
  api,
  log,
}: ClientAddressOptions): (request: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile(trustedProxies.map(({ address, prefix }) => `${address}/${prefix}`));
  const trusts = (address: string, index: number) => isTrusted(withoutPort(address), index);
  let isToldOf = false;
  return (request) => {
    const peer = request.socket.remoteAddress;
    if (peer === undefined) {
      return '';
    }
    if (!isToldOf && request.headers['x-forwarded-for'] !== undefined && !trusts(peer, 0)) {
      isToldOf = true;
      log.warn(
        'X-Forwarded-For was not believed; if it came from a proxy of yours, name that in TRUSTED_PROXIES',
        { api, peer },
      );
    }
    // What is no address was believed of a trusted proxy: then that one is the nearest to the client that is known.
    const known = proxyAddr.all(request, trusts).map(withoutPort);
    return known.findLast((address) => isIP(address) !== 0) ?? peer;
  };
}

/** Some proxies write down the port as well: `192.0.2.1:443`, `[2001:db8::1]:443`. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/;

function withoutPort(address: string): string {
  const [, ipv6, ipv4] = WITH_PORT.exec(address) ?? [];
  return ipv6 ?? ipv4 ?? address;
}
