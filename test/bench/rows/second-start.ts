import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { copyDatabase, PEER_NAME, startPlainPeer } from '../subjects/plain-peer.js';
import { startService } from '../subjects/service.js';
import { makeWorkplace } from '../subjects/workplace.js';

const NAME = 'second start, to the first 200 (s)';
const MS_PER_SECOND = 1_000;

/** From the start of the process, over data that is there, to the first 200. */
export const secondStart: Comparison = {
  rows: { [NAME]: { referenceName: PEER_NAME, goal: 10, higherIsBetter: false } },
  warmUpRounds: 1,
  rounds: 5,
  setUp: async (scope) => {
    const workplace = makeWorkplace(scope);
    const service = await startService(scope, workplace);
    const apiKey = service.apiKeyFor(1);
    const database = copyDatabase(workplace);
    await service.stop();
    return {
      ours: () => timed(scope, (round) => startService(round, workplace)),
      reference: () => timed(scope, (round) => startPlainPeer(round, { workplace, database, apiKey })),
    };
  },
};

function timed(scope: Scope, start: (round: Scope) => Promise<unknown>): Promise<Record<string, number>> {
  return scope.within(async (round) => {
    const startedAt = performance.now();
    await start(round);
    return { [NAME]: (performance.now() - startedAt) / MS_PER_SECOND };
  });
}
