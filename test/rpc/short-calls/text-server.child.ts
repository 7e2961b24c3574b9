import { appendFileSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { addHealth } from '../../../src/rpc/health.js';
import { closeRpcServer, createRpcServer } from '../../../src/rpc/server.js';
import { textsAnsweredBy } from './text-service.js';

const GRACE_MS = 10_000;

const [address = '', record = '', token] = process.argv.slice(2);
const silent = () => undefined;

/** Written down before it is answered, so that a kill loses nothing. */
const answer = async (text: string): Promise<string> => {
  appendFileSync(record, `${text}\n`);
  await pause(Math.random() * 20);
  return `${text}!`;
};

const server = createRpcServer({
  services: [textsAnsweredBy(answer)],
  authenticate: (shown) => {
    if (shown !== token) {
      throw new Error('another token');
    }
    return { caller: 'edge' };
  },
  log: { debug: silent, info: silent, warn: silent, error: silent },
  timer: silent,
  audit: { observe: silent, audit: async () => undefined },
});
let isDraining = false;
addHealth(server, async () => (isDraining ? 'NOT_SERVING' : 'SERVING'));
process.on('SIGTERM', async () => {
  isDraining = true;
  await closeRpcServer(server, GRACE_MS);
  process.exit();
});
if (address.startsWith('unix:')) {
  rmSync(address.slice('unix:'.length), { force: true });
}
await server.listen(address);
process.send?.('serving');
