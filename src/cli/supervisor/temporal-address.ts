import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

const USUAL_PORT = 7233;

/** The usual port if it is free, else any free one. */
export async function freeTemporalAddress(): Promise<string> {
  const port = await freePort(USUAL_PORT).catch(() => freePort(0));
  return `127.0.0.1:${port}`;
}

async function freePort(wanted: number): Promise<number> {
  const probe = createServer().listen(wanted, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await once(probe.close(), 'close');
  return port;
}
