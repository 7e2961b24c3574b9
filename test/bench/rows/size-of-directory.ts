import { deepStrictEqual } from 'node:assert';
import { exchange } from '../../support/http-exchange.js';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { startLoad } from '../load/load.js';
import { startService } from '../subjects/service.js';
import { cachedStoredWorkers, connectionId, workersPath } from '../subjects/stored-workers.js';

const WORKERS_EACH = 500;
/** With the 500 of the demo's own client, which they are copied from. */
const FEW = { name: 'few-workers', clients: 1_000 / WORKERS_EACH - 1 };
const MANY = { name: 'many-workers', clients: 1_000_000 / WORKERS_EACH - 1 };

const ASKED_CLIENT = 1;
const PATH = workersPath('v2', ASKED_CLIENT);
const CONNECTIONS = 8;
const ROUND_MS = 3_000;
const MS_PER_SECOND = 1_000;

/** The cost of other clients: a list, and a 304 of it, with a thousand and a million stored workers. */
export const sizeOfDirectory: readonly Comparison[] = [
  amongMany('GET v2 workers, 500 of 1,000,000 (ms an answer)', { goal: 1.2, showEtag: false }),
  amongMany('GET v2 workers, 500 of 1,000,000, ETag matches (ms an answer)', { goal: 1.1, showEtag: true }),
];

function amongMany(name: string, { goal, showEtag }: { goal: number; showEtag: boolean }): Comparison {
  return {
    rows: { [name]: { referenceName: '500 of 1,000', goal, higherIsBetter: false } },
    warmUpRounds: 2,
    rounds: 5,
    setUp: async (scope) => {
      const many = await start(scope, MANY);
      const few = await start(scope, FEW);
      deepStrictEqual(JSON.parse(many.body), JSON.parse(few.body), 'Both sides give the same list.');
      const load = startLoad(scope);
      const time = async ({ port, apiKey, etag }: typeof many) => {
        const headers = { 'x-api-key': apiKey, ...(showEtag ? { 'if-none-match': etag } : {}) };
        const expectStatus = showEtag ? 304 : 200;
        const target = { host: '127.0.0.1', port, path: PATH, headers, expectStatus };
        const { requestsPerSecond } = await load({ target, connections: CONNECTIONS, durationMs: ROUND_MS });
        return { [name]: (MS_PER_SECOND * CONNECTIONS) / requestsPerSecond };
      };
      return { ours: () => time(many), reference: () => time(few) };
    },
  };
}

async function start(scope: Scope, { name, clients }: typeof MANY) {
  const wanted = [{ firstNumber: ASKED_CLIENT, clients, workersEach: WORKERS_EACH }];
  const service = await startService(scope, await cachedStoredWorkers(scope, name, wanted));
  const apiKey = service.apiKeyReaching(connectionId());
  const { body, headers } = await exchange(service.gatewayPort, PATH, { headers: { 'x-api-key': apiKey } });
  return { port: service.gatewayPort, apiKey, body, etag: headers.etag ?? '' };
}
