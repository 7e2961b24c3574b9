import type { Comparison } from '../harness/comparison.js';
import { startLoad } from '../load/load.js';
import { startDomains } from '../subjects/several-domains.js';
import { signOnService } from '../subjects/sign-on-service.js';
import { makeWorkplace } from '../subjects/workplace.js';
import { pkce } from './tokens.js';

/** More than all domains together answer at the same time. */
const CONNECTIONS = 96;
const ROUND_MS = 5_000;

/** The gain of more domains when they wait for their database most of the time, and when they do not. */
export const severalDomains: readonly Comparison[] = [
  refreshesAt({ count: 2, delayMs: 2, goal: 1.8 }),
  refreshesAt({ count: 4, delayMs: 2, goal: 3 }),
  refreshesAt({ count: 2, delayMs: 20, goal: 1.8 }),
  refreshesAt({ count: 4, delayMs: 20, goal: 3 }),
];

function refreshesAt({ count, delayMs, goal }: { count: number; delayMs: number; goal: number }): Comparison {
  const name = `refresh, ${count} domains, PostgreSQL answers ${delayMs} ms later (answers/s)`;
  return {
    rows: { [name]: { referenceName: 'one domain', goal, higherIsBetter: true } },
    warmUpRounds: 1,
    rounds: 3,
    setUp: async (scope) => {
      const start = async (domains: number) => {
        const workplace = makeWorkplace(scope);
        const service = await startDomains(scope, workplace, { count: domains, delayMs });
        return signOnService(workplace, service, pkce);
      };
      const [several, one] = [await start(count), await start(1)];
      const load = startLoad(scope);
      const rate = async (subject: typeof one) => {
        const target = await subject.refreshes(CONNECTIONS);
        const { requestsPerSecond } = await load({ target, connections: CONNECTIONS, durationMs: ROUND_MS });
        return { [name]: requestsPerSecond };
      };
      return { ours: () => rate(several), reference: () => rate(one) };
    },
  };
}
