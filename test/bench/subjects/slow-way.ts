import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { stallingProxy } from '../../support/stalling-proxy.js';
import type { Scope } from '../harness/scope.js';

interface Way {
  databaseUrl: string;
  delayMs: number;
}

/** A proxy to PostgreSQL that delays each answer. This file is also the process that runs the proxy. */
export async function slowWayTo(way: Way, scope: Scope): Promise<string> {
  const child = fork(fileURLToPath(import.meta.url), ['way']);
  const ended = once(child, 'exit');
  scope.onEnd(async () => {
    child.kill();
    await ended;
  });
  child.send(way);
  const [url] = await Promise.race([
    once(child, 'message'),
    ended.then(() => {
      throw new Error('The slow way to PostgreSQL ended.');
    }),
  ]);
  return url;
}

if (process.argv[2] === 'way') {
  process.once('disconnect', () => process.exit());
  process.once('message', async ({ databaseUrl, delayMs }: Way) => {
    const proxy = await stallingProxy(databaseUrl);
    proxy.delay(delayMs);
    process.send?.(proxy.url);
  });
}
