import { randomInt } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { freePorts } from '../support/free-ports.js';
import { listenOnLoopback } from '../support/loopback.js';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { startCluster } from './cluster.js';

const newDirectory = temporaryDirectories();
const holder = createServer();

afterEach(() => {
  holder.close();
});

test('a start names an address that is taken, and leaves the folder of another cluster as it is', async () => {
  const prometheus = await listenOnLoopback(holder);
  const [signOn = 0, gateway = 0, grpc = 0, one = 0, two = 0, haproxy = 0, temporal = 0] = await freePorts(7);
  const ports = { signOn, gateway, grpc, demoApps: [one, two] as const, haproxy, prometheus, temporal };
  const network = `127.${randomInt(1, 255)}.${randomInt(0, 255)}`;
  const folder = newDirectory();
  writeFileSync(join(folder, 'demo.json'), '{}');
  await expect(startCluster({ network, ports, folder })).rejects.toThrow(
    `127.0.0.1:${prometheus} is taken, by another cluster or another program. Stop that one first.`,
  );
  expect(existsSync(join(folder, 'demo.json'))).toBe(true);
});
