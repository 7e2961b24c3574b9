import type { AddressInfo, Server } from 'node:net';

/** Lets a server listen at a free port of this machine, and returns the port. */
export async function listenOnLoopback(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** The same address at a port of this machine, as of a proxy. */
export function onLoopback(url: string, port: number): URL {
  return Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) });
}
