import { deepStrictEqual } from 'node:assert';
import { exchange } from '../../support/http-exchange.js';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { startLoad } from '../load/load.js';
import { copyDatabase, PEER_NAME, startPlainPeer } from '../subjects/plain-peer.js';
import { type RunningService, startService } from '../subjects/service.js';
import { makeWorkplace } from '../subjects/workplace.js';

const CONNECTIONS = 32;
const ROUND_MS = 3_000;

export interface PeerList {
  /** The row. */
  name: string;
  goal: number;
  path: string;
  /** Ours answers 304. The peer always answers the whole list, because it has no versions. */
  showEtag: boolean;
  apiKeyOf(service: RunningService): string;
  /** What has to be in the data before the service starts. */
  prepare?(scope: Scope, workplace: string): Promise<void>;
}

/** Answers per second to one question, against the plain peer over the same rows. */
export function listAgainstPeer(list: PeerList): Comparison {
  const { name, goal, path, showEtag } = list;
  return {
    rows: { [name]: { referenceName: PEER_NAME, goal, higherIsBetter: true } },
    warmUpRounds: 2,
    rounds: 5,
    setUp: async (scope) => {
      const { apiKey, gatewayPort, peerPort, etag } = await startBoth(scope, list);
      const load = startLoad(scope);
      const rate = async (port: number, expectStatus: number, headers: Record<string, string>) => {
        const target = {
          host: '127.0.0.1',
          port,
          path,
          headers: { 'x-api-key': apiKey, ...headers },
          expectStatus,
        };
        const { requestsPerSecond } = await load({ target, connections: CONNECTIONS, durationMs: ROUND_MS });
        return { [name]: requestsPerSecond };
      };
      return {
        ours: () =>
          showEtag ? rate(gatewayPort, 304, { 'if-none-match': etag }) : rate(gatewayPort, 200, {}),
        reference: () => rate(peerPort, 200, {}),
      };
    },
  };
}

async function startBoth(scope: Scope, { path, apiKeyOf, prepare }: PeerList) {
  const workplace = makeWorkplace(scope);
  await prepare?.(scope, workplace);
  const service = await startService(scope, workplace);
  const apiKey = apiKeyOf(service);
  const peer = await startPlainPeer(scope, { workplace, database: copyDatabase(workplace), apiKey });
  const headers = { 'x-api-key': apiKey };
  const ours = await exchange(service.gatewayPort, path, { headers });
  const theirs = await exchange(peer.port, path, { headers });
  deepStrictEqual(JSON.parse(ours.body), JSON.parse(theirs.body), 'Both sides give the same list.');
  return { apiKey, gatewayPort: service.gatewayPort, peerPort: peer.port, etag: ours.headers.etag ?? '' };
}
