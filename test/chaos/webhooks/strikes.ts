import { randomFrom } from '../../support/random-from.js';
import type { Role } from '../../support/service-process.js';

/** Who is killed, and what is under way at that moment. */
export interface Strike {
  target: Role | 'temporal';
  during: 'first attempt' | 'retry' | 'write' | 'read';
  /** The number of the write at which it is made ready. */
  edit: number;
  /** How many things of its kind it lets pass first. */
  lets: number;
}

export interface Campaign {
  seed: number;
  edits: number;
  eventsPerEdit: number;
  /** How often each kind of strike is made. */
  rounds: number;
  /** A worker's attempts wait for their lease to lapse, so a storm ends sooner if its workers die first. */
  workersFirst: boolean;
}

/** With how many of them come of each event at least, so that there is always one to strike at. */
const KINDS: readonly (Pick<Strike, 'target' | 'during'> & { perEvent: number })[] = [
  { target: 'worker', during: 'first attempt', perEvent: 10 },
  { target: 'worker', during: 'retry', perEvent: 1 },
  { target: 'domain', during: 'first attempt', perEvent: 10 },
  { target: 'domain', during: 'write', perEvent: 0 },
  { target: 'edge', during: 'read', perEvent: 0 },
  { target: 'temporal', during: 'retry', perEvent: 1 },
];

/** Who dies when, in the order of the writes, at most one at each: the same for the same seed. */
export function strikesOf({ seed, edits, eventsPerEdit, rounds, workersFirst }: Campaign): Strike[] {
  const random = randomFrom(seed);
  const kinds = shuffled(Array.from({ length: rounds }, () => KINDS).flat(), random);
  if (workersFirst) {
    kinds.sort((a, b) => Number(b.target === 'worker') - Number(a.target === 'worker'));
  }
  const places = shuffled([...Array(edits).keys()], random)
    .slice(0, kinds.length)
    .sort((a, b) => a - b);
  if (places.length < kinds.length) {
    throw new Error(`${edits} writes are too few for ${kinds.length} strikes.`);
  }
  return kinds.map(({ target, during, perEvent }, index) => ({
    target,
    during,
    edit: places[index] ?? 0,
    lets: Math.floor(random() * perEvent * eventsPerEdit),
  }));
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
