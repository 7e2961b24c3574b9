import { randomInt } from 'node:crypto';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';

/**
 * Below the range of outgoing connections, which could take a free port before its user does. Above 10080,
 * the last port that fetch refuses.
 */
const LOWEST_PORT = 10_081;
const HIGHEST_PORT = 32_000;

/** Free ports of the loopback address: all held at once, so that they differ, then released. */
export async function freePorts(count: number): Promise<number[]> {
  const holders = await Promise.all(Array.from({ length: count }, hold));
  const ports = holders.map((holder) => (holder.address() as AddressInfo).port);
  await Promise.all(holders.map((holder) => new Promise((resolve) => holder.close(resolve))));
  return ports;
}

function hold(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    const listen = () => server.listen(randomInt(LOWEST_PORT, HIGHEST_PORT), '127.0.0.1');
    server.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? listen() : reject(error),
    );
    server.on('listening', () => {
      if (isClaimed((server.address() as AddressInfo).port)) {
        server.close(listen);
      } else {
        resolve(server);
      }
    });
    listen();
  });
}

/**
 * Other tests of the run, or of one beside it (.ci/run), pick ports too, while the user of this one starts:
 * each port is given out once.
 */
function isClaimed(port: number): boolean {
  const { TEST_RUN_FOLDER, TEST_PORTS_FOLDER } = process.env;
  if (TEST_RUN_FOLDER === undefined) {
    return false;
  }
  const folder = TEST_PORTS_FOLDER ?? join(TEST_RUN_FOLDER, 'ports');
  mkdirSync(folder, { recursive: true });
  try {
    closeSync(openSync(join(folder, String(port)), 'wx'));
    return false;
  } catch {
    return true;
  }
}
