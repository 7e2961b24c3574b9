import type { Comparison, Reading, Terms } from '../harness/comparison.js';
import { startHop, type Way } from '../subjects/hop.js';

const CALLS = 20_000;
const REFERENCE_NAME = 'a gRPC call for each';
const COST: Terms = { referenceName: REFERENCE_NAME, goal: 0.4, higherIsBetter: false };
const RATE: Terms = { referenceName: REFERENCE_NAME, goal: 2.5, higherIsBetter: true };

const nameOf = (callers: number, what: string) =>
  `the hop alone, ${callers === 1 ? '1 caller' : `${callers} callers`} (${what})`;
const CALLERS = [1, 32] as const;
const WHATS = {
  caller: 'µs of processor a call, at the caller',
  server: 'µs of processor a call, at the server',
  callsPerSecond: 'calls/s',
} as const;

/** A short call from role to role: multiplexed over an open stream, against a unary call of grpc-js. */
export const hop: Comparison = {
  rows: Object.fromEntries(
    CALLERS.flatMap((callers) => [
      [nameOf(callers, WHATS.caller), COST],
      [nameOf(callers, WHATS.server), COST],
      [nameOf(callers, WHATS.callsPerSecond), RATE],
    ]),
  ),
  warmUpRounds: 2,
  rounds: 5,
  setUp: async (scope) => {
    const measure = await startHop(scope);
    const read = async (way: Way): Promise<Reading> => {
      const readings: [string, number][] = [];
      for (const callers of CALLERS) {
        const cost = await measure(way, callers, CALLS);
        for (const [key, what] of Object.entries(WHATS)) {
          readings.push([nameOf(callers, what), cost[key as keyof typeof WHATS]]);
        }
      }
      return Object.fromEntries(readings);
    };
    return { ours: () => read('streams'), reference: () => read('plain') };
  },
};
