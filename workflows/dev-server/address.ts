import { createServer } from 'node:net';

export interface LoopbackAddress {
  ip: string;
  port: number;
  urlHost: string;
}

const loopbackIps: Record<string, string> = {
  localhost: '127.0.0.1',
  '127.0.0.1': '127.0.0.1',
  '[::1]': '::1',
};

/** The dev server has no authentication, so it listens where only this machine can reach it. */
export function parseLoopbackAddress(address: string): LoopbackAddress {
  const colon = address.lastIndexOf(':');
  const urlHost = address.slice(0, colon);
  const ip = loopbackIps[urlHost];
  const port = Number(address.slice(colon + 1));
  if (!ip) throw new Error(`The Temporal dev server listens on loopback only, not on ${address}.`);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`${address} has no valid port.`);
  return { ip, port, urlHost };
}

/** Finds a taken port before the start, for a better message than the server's. */
export async function reservePort(ip: string, port: number, purpose: string): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new Error(`Port ${port}, for ${purpose}, is taken.`) : error),
    );
    probe.listen({ host: ip, port, exclusive: true }, () => probe.close(() => resolve()));
  });
}
