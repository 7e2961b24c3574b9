import { deepStrictEqual } from 'node:assert';
import { exchange } from '../../support/http-exchange.js';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { startLoad } from '../load/load.js';
import { copyDatabase, PEER_NAME, startPlainPeer } from '../subjects/plain-peer.js';
import { startService } from '../subjects/service.js';
import { makeWorkplace } from '../subjects/workplace.js';

const PATH = '/v1/instance-integrations';
const CONNECTIONS = 32;
const ROUND_MS = 3_000;

/** The list of one as our clients get it: whole, and as a 304 when they show the ETag of what they have. */
export const instanceIntegrations: readonly Comparison[] = [
  listOfOne('GET instance-integrations, list of 1 (answers/s)', { goal: 0.1, showEtag: false }),
  listOfOne('GET instance-integrations, list of 1, ETag matches (answers/s)', { goal: 0.12, showEtag: true }),
];

/** The peer always answers the whole list: it has no versions, so that is what the same question costs there. */
function listOfOne(name: string, { goal, showEtag }: { goal: number; showEtag: boolean }): Comparison {
  return {
    rows: { [name]: { referenceName: PEER_NAME, goal, higherIsBetter: true } },
    warmUpRounds: 2,
    rounds: 5,
    setUp: async (scope) => {
      const { apiKey, gatewayPort, peerPort, etag } = await startBoth(scope);
      const load = startLoad(scope);
      const rate = async (port: number, expectStatus: number, headers: Record<string, string>) => {
        const target = {
          host: '127.0.0.1',
          port,
          path: PATH,
          headers: { 'x-api-key': apiKey, ...headers },
          expectStatus,
        };
        return { [name]: await load({ target, connections: CONNECTIONS, durationMs: ROUND_MS }) };
      };
      return {
        ours: () =>
          showEtag ? rate(gatewayPort, 304, { 'if-none-match': etag }) : rate(gatewayPort, 200, {}),
        reference: () => rate(peerPort, 200, {}),
      };
    },
  };
}

async function startBoth(scope: Scope) {
  const workplace = makeWorkplace(scope);
  const service = await startService(scope, workplace);
  const apiKey = service.apiKeyFor(1);
  const peer = await startPlainPeer(scope, { workplace, database: copyDatabase(workplace), apiKey });
  const headers = { 'x-api-key': apiKey };
  const ours = await exchange(service.gatewayPort, PATH, { headers });
  const theirs = await exchange(peer.port, PATH, { headers });
  deepStrictEqual(JSON.parse(ours.body), JSON.parse(theirs.body), 'Both sides give the same list.');
  return { apiKey, gatewayPort: service.gatewayPort, peerPort: peer.port, etag: ours.headers.etag ?? '' };
}
