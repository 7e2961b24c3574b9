import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { settledMegabytes } from '../subjects/memory.js';
import { copyDatabase, PEER_NAME, startPlainPeer } from '../subjects/plain-peer.js';
import { startService } from '../subjects/service.js';
import type { StartedProcess } from '../subjects/started-process.js';
import { makeWorkplace } from '../subjects/workplace.js';

export const IDLE_CONNECTIONS = 'memory of 1,000 idle connections (MB)';
const CONNECTIONS = 1_000;
/** Opened so many at once, lest the queue of the listener overflows. */
const AT_ONCE = 50;

/** What connections hold that have had one answer and wait for their next question. */
export const idleConnections: Comparison = {
  rows: { [IDLE_CONNECTIONS]: { referenceName: PEER_NAME, goal: 1.25, higherIsBetter: false } },
  warmUpRounds: 0,
  rounds: 3,
  setUp: async (scope) => ({
    ours: () =>
      scope.within(async (round) => {
        const service = await startService(round, makeWorkplace(round));
        return {
          [IDLE_CONNECTIONS]: await growthOf(round, service, service.gatewayPort, service.apiKeyFor(1)),
        };
      }),
    reference: () =>
      scope.within(async (round) => {
        const workplace = makeWorkplace(round);
        const service = await startService(round, workplace);
        const apiKey = service.apiKeyFor(1);
        const peer = await startPlainPeer(round, { workplace, database: copyDatabase(workplace), apiKey });
        await service.stop();
        return { [IDLE_CONNECTIONS]: await growthOf(round, peer, peer.port, apiKey) };
      }),
  }),
};

/** Of all processes, once the first answers have loaded what an answer needs. */
async function growthOf(
  scope: Scope,
  { pid }: StartedProcess,
  port: number,
  apiKey: string,
): Promise<number> {
  const sockets = await opened(AT_ONCE, port, apiKey);
  scope.onEnd(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
  });
  const before = await settledMegabytes(pid);
  sockets.push(...(await opened(CONNECTIONS, port, apiKey)));
  return (await settledMegabytes(pid)) - before;
}

async function opened(count: number, port: number, apiKey: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    sockets.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => answered(port, apiKey)))));
  }
  return sockets;
}

async function answered(port: number, apiKey: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.write(`GET /v1/instance-integrations HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${apiKey}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  if (!head.toString('latin1').startsWith('HTTP/1.1 200')) {
    throw new Error(`A connection was answered: ${head.toString('latin1').slice(0, 200)}`);
  }
  return socket.resume();
}
