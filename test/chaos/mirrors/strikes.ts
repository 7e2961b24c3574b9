import { randomFrom } from '../../support/random-from.js';

/** A process to kill, and when. */
export interface Strike {
  target: string;
  /** The number of the write at which it is due. */
  write: number;
  /** Of a mirror: how often its file changes first. None to kill it at once. */
  changes?: number;
}

export interface Campaign {
  seed: number;
  writes: number;
  services: readonly string[];
  mirrors: readonly string[];
  /** How often each service is killed. */
  rounds: number;
  /** How often each mirror is killed in a round, once at once and otherwise while it stores. */
  mirrorKills: number;
}

/** A transaction of a mirror changes several files, each more than once. */
const MOST_CHANGES = 12;

/** In the order of their writes: the same for the same seed. */
export function strikesOf(campaign: Campaign): Strike[] {
  const random = randomFrom(campaign.seed);
  const below = (end: number) => Math.floor(random() * end);
  const write = () => below(campaign.writes);
  const round = (): Strike[] => [
    ...campaign.services.map((target) => ({ target, write: write() })),
    ...campaign.mirrors.flatMap((target) =>
      Array.from({ length: campaign.mirrorKills }, (_, index) => ({
        target,
        write: write(),
        ...(index > 0 && { changes: 1 + below(MOST_CHANGES) }),
      })),
    ),
  ];
  return Array.from({ length: campaign.rounds }, round)
    .flat()
    .sort((one, other) => one.write - other.write);
}
