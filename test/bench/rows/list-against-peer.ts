import { deepStrictEqual } from 'node:assert';
import { exchange } from '../../support/http-exchange.js';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { type Load, startLoad } from '../load/load.js';
import { copyDatabase, PEER_NAME, startPlainPeer } from '../subjects/plain-peer.js';
import { type StoreKind, settingsOn, storeIn } from '../subjects/postgres.js';
import { type RunningService, startService } from '../subjects/service.js';
import { makeWorkplace } from '../subjects/workplace.js';
import { pricedLoad } from './priced-load.js';

const CONNECTIONS = 32;
const ROUND_MS = 3_000;
const ETAG_LIMIT = 'HTTP and the check of the key: the list is not read';

export interface PeerList {
  /** What is asked for, `workers, list of 1` for example. */
  what: string;
  /** What most of its cost is. */
  limit: string;
  goal?: number | undefined;
  store?: StoreKind | undefined;
  path: string;
  /** Ours answers 304. The peer always answers the whole list, because it has no versions. */
  showEtag: boolean;
  apiKeyOf(service: RunningService): string;
  /** What has to be in the data before the service starts. */
  prepare?(scope: Scope, workplace: string): Promise<void>;
}

/** Answers per second to one question, against the plain peer over the same rows. */
export function listAgainstPeer(list: PeerList): Comparison {
  const { goal, path, showEtag, store = 'SQLite' } = list;
  const what = `GET ${list.what}${showEtag ? ', ETag matches' : ''}`;
  const name = `${what}${storeIn(store)} (answers/s)`;
  const priced = { what, limit: showEtag ? ETAG_LIMIT : list.limit };
  return {
    rows: { [name]: { referenceName: PEER_NAME, goal, higherIsBetter: true } },
    priced: store === 'SQLite' ? priced : undefined,
    warmUpRounds: 2,
    rounds: store === 'SQLite' ? 5 : 3,
    setUp: async (scope, noteCost) => {
      const { apiKey, service, peerPort, etag } = await startBoth(scope, list);
      const load = startLoad(scope);
      const rate = async (ask: Load, port: number, expectStatus: number, headers: Record<string, string>) => {
        const target = {
          host: '127.0.0.1',
          port,
          path,
          headers: { 'x-api-key': apiKey, ...headers },
          expectStatus,
        };
        const { requestsPerSecond } = await ask({ target, connections: CONNECTIONS, durationMs: ROUND_MS });
        return { [name]: requestsPerSecond };
      };
      const askOurs = pricedLoad(load, service, noteCost);
      const { gatewayPort } = service;
      return {
        ours: () =>
          showEtag
            ? rate(askOurs, gatewayPort, 304, { 'if-none-match': etag })
            : rate(askOurs, gatewayPort, 200, {}),
        reference: () => rate(load, peerPort, 200, {}),
      };
    },
  };
}

async function startBoth(scope: Scope, { path, store = 'SQLite', apiKeyOf, prepare }: PeerList) {
  const workplace = makeWorkplace(scope);
  await prepare?.(scope, workplace);
  const service = await startService(scope, workplace, await settingsOn(store, scope, workplace));
  const apiKey = apiKeyOf(service);
  const peer = await startPlainPeer(scope, { workplace, database: copyDatabase(workplace), apiKey });
  const headers = { 'x-api-key': apiKey };
  const ours = await exchange(service.gatewayPort, path, { headers });
  const theirs = await exchange(peer.port, path, { headers });
  deepStrictEqual(JSON.parse(ours.body), JSON.parse(theirs.body), 'Both sides give the same list.');
  return { apiKey, service, peerPort: peer.port, etag: ours.headers.etag ?? '' };
}
