import type { Comparison, Reading } from '../harness/comparison.js';
import { startLoad } from '../load/load.js';
import type { Target } from '../load/questions.js';
import { REQUESTS_PER_SIGN_IN } from '../load/sign-in.js';
import { startSignIns } from './sign-in.js';

/** As many as keep the service busy. */
const ENOUGH = 64;
/** Each asks again as soon as it is refused: many times what the service can answer. */
const TOO_MANY = 2_000;
const ROUND_MS = 20_000;
/** Within this time after the rush the service shall answer as before. */
const RECOVERY_MS = 1_000;
const BESIDE = 4;
const PROMISED_P99_MS = 1_000;
/** What differs is the network, by which places are shared. */
const RUSH = { 'x-forwarded-for': '198.51.100.7' };

const rush = `${TOO_MANY.toLocaleString('en')} connections that never wait`;
const SERVED = `userinfo for ${rush} (answers/s)`;
const P99 = `userinfo for ${rush}, p99 of what is served (ms)`;
const OTHERS = `userinfo of another network beside ${rush}, p99 (ms)`;
const TOKENS = `refresh of another network beside ${rush}, p99 (ms)`;
const SIGN_INS = `sign-in beside ${rush} (sign-ins/s)`;
const RECOVERY = `userinfo in the second after ${rush}, p99 (ms)`;

const promised = { referenceName: 'what is promised', goal: 1, higherIsBetter: false };

/** What is left of the service when far more is asked of it than it can answer. */
export const overload: Comparison = {
  rows: {
    [SERVED]: { referenceName: `${ENOUGH} connections`, goal: 0.7, higherIsBetter: true },
    [P99]: promised,
    [OTHERS]: promised,
    [TOKENS]: promised,
    // Passwords are checked at low priority, and the rush takes all of the processors.
    [SIGN_INS]: { referenceName: 'beside none', goal: 0.2, higherIsBetter: true },
    [RECOVERY]: promised,
  },
  warmUpRounds: 1,
  rounds: 3,
  setUp: async (scope) => {
    const { signIns, subject: signOn } = await startSignIns(scope);
    const load = startLoad(scope);
    const beside = startLoad(scope);
    const target = await signOn.userinfos(200);
    const rushed: Target = { ...target, headers: { ...target.headers, ...RUSH }, shedStatus: 503 };
    return {
      ours: async (): Promise<Reading> => {
        const refreshes = await signOn.refreshes(BESIDE);
        const [served, others] = await Promise.all([
          load({ target: rushed, connections: TOO_MANY, durationMs: ROUND_MS }),
          beside({ target, connections: BESIDE, durationMs: ROUND_MS }),
        ]);
        const [, tokens] = await Promise.all([
          load({ target: rushed, connections: TOO_MANY, durationMs: ROUND_MS }),
          beside({ target: refreshes, connections: BESIDE, durationMs: ROUND_MS }),
        ]);
        const [, people] = await Promise.all([
          load({ target: rushed, connections: TOO_MANY, durationMs: ROUND_MS }),
          beside({ target: signIns, connections: BESIDE, durationMs: ROUND_MS }),
        ]);
        const after = await load({ target, connections: BESIDE, durationMs: RECOVERY_MS });
        return {
          [SERVED]: served.requestsPerSecond + others.requestsPerSecond,
          [P99]: served.p99Ms,
          [OTHERS]: others.p99Ms,
          [TOKENS]: tokens.p99Ms,
          [SIGN_INS]: people.requestsPerSecond / REQUESTS_PER_SIGN_IN,
          [RECOVERY]: after.p99Ms,
        };
      },
      reference: async () => {
        const { requestsPerSecond } = await load({ target, connections: ENOUGH, durationMs: ROUND_MS });
        const people = await beside({ target: signIns, connections: BESIDE, durationMs: ROUND_MS });
        return {
          [SERVED]: requestsPerSecond,
          [P99]: PROMISED_P99_MS,
          [OTHERS]: PROMISED_P99_MS,
          [TOKENS]: PROMISED_P99_MS,
          [SIGN_INS]: people.requestsPerSecond / REQUESTS_PER_SIGN_IN,
          [RECOVERY]: PROMISED_P99_MS,
        };
      },
    };
  },
};
