import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Comparison, Reading } from '../harness/comparison.js';
import { startLoad } from '../load/load.js';
import type { Target } from '../load/questions.js';
import { startStallingReaders } from '../load/stalling-readers.js';
import { startService } from '../subjects/service.js';
import { signOnService } from '../subjects/sign-on-service.js';
import { connectionId, makeStoredWorkers, workersPath } from '../subjects/stored-workers.js';
import { makeWorkplace } from '../subjects/workplace.js';

const READERS = 1_000;
/** Some 4 MB: more than the system takes in the reader's place. */
const LIST = { clientNumber: 1, workers: 12_500 };
const CONNECTIONS = 4;
/** Longer than readers wait who were refused, so that it does not matter when they come. */
const ROUND_MS = 6_000;
/** Until the first rush is over, or their connections are gone. */
const SETTLE_MS = 10_000;

const CODE_VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const pkce = {
  codeVerifier: CODE_VERIFIER,
  codeChallenge: createHash('sha256').update(CODE_VERIFIER).digest('base64url'),
};

const beside = `beside ${READERS.toLocaleString('en')} slow readers of one integration (ms)`;
const READS = `p99 of another integration's reads ${beside}`;
const TOKENS = `p99 of token calls ${beside}`;
const terms = { referenceName: 'beside none', goal: 1.5, higherIsBetter: false };

/** What one integration can do to others and to sign-on by reading long lists as slowly as it is let. */
export const slowReaders: Comparison = {
  rows: { [READS]: terms, [TOKENS]: terms },
  warmUpRounds: 1,
  // A p99 of a busy machine varies by half from round to round.
  rounds: 5,
  setUp: async (scope) => {
    const workplace = makeWorkplace(scope);
    await makeStoredWorkers(scope, workplace, [
      { firstNumber: LIST.clientNumber, clients: 1, workersEach: LIST.workers },
    ]);
    const service = await startService(scope, workplace);
    const key = service.apiKeyReaching(connectionId());
    const otherKey = service.apiKeyFor(1);
    if (otherKey === key) {
      throw new Error('The demo has no second integration to read beside the first.');
    }
    const signOn = signOnService(workplace, service, pkce);
    const load = startLoad(scope);
    const reads: Target = {
      host: '127.0.0.1',
      port: service.gatewayPort,
      path: '/v1/instance-integrations',
      headers: { 'x-api-key': otherKey },
      expectStatus: 200,
    };
    const p99Of = async (target: Target) =>
      (await load({ target, connections: CONNECTIONS, durationMs: ROUND_MS })).p99Ms;
    const both = async (): Promise<Reading> => ({
      [READS]: await p99Of(reads),
      [TOKENS]: await p99Of(await signOn.refreshes(CONNECTIONS)),
    });
    return {
      ours: async () => {
        const end = await startStallingReaders({
          count: READERS,
          port: service.gatewayPort,
          path: workersPath('v1', LIST.clientNumber),
          headers: { 'x-api-key': key },
        });
        try {
          await sleep(SETTLE_MS);
          return await both();
        } finally {
          end();
          await sleep(SETTLE_MS);
        }
      },
      reference: both,
    };
  },
};
