import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';

export interface Network {
  readonly address: string;
  readonly prefix: number;
}

/** The address a request came from: X-Forwarded-For is believed as far as trusted proxies wrote it, and no further. */
export function clientAddress(trustedProxies: readonly Network[]): (request: IncomingMessage) => string {
  const trusts = proxyAddr.compile(trustedProxies.map(({ address, prefix }) => `${address}/${prefix}`));
  return (request) => proxyAddr(request, trusts);
}
