import { eventually } from '../../support/eventually.js';
import { randomFrom } from '../../support/random-from.js';
import type { stallingProxy } from '../../support/stalling-proxy.js';
import { type DomainNode, type TwoDomains, untilKnownAway, untilServing } from '../calls/two-domains.js';
import type { History } from './history.js';
import type { SlowWays } from './slow-ways.js';

/** The last three are about the way of a domain to the database. */
export const OUTAGES = [
  'edge killed',
  'domain killed',
  'domain frozen',
  'connections cut',
  'network silent',
  'answers to commits lost',
] as const;

export type Outage = (typeof OUTAGES)[number];

export interface Strike {
  outage: Outage;
  domain: 0 | 1;
  /** So many operations are recorded before it, and as many while it lasts. */
  operations: number;
}

export type WayToDatabase = Awaited<ReturnType<typeof stallingProxy>>;

const MOST_OPERATIONS = 300;
const LOST_ANSWERS = 5;

/** Each of these outages once in each round, in an order of the seed. */
export function strikesOf(seed: number, rounds: number, outages: readonly Outage[] = OUTAGES): Strike[] {
  const random = randomFrom(seed);
  const below = (end: number) => Math.floor(random() * end);
  return Array.from({ length: rounds }, () => {
    const left = [...outages];
    return outages.map((): Strike => {
      const [outage] = left.splice(below(left.length), 1) as [Outage];
      return { outage, domain: below(2) === 0 ? 0 : 1, operations: 1 + below(MOST_OPERATIONS) };
    });
  }).flat();
}

export interface OutagesOn {
  nodes: TwoDomains;
  ways: readonly [WayToDatabase, WayToDatabase];
  slowWays: SlowWays;
  history: History;
}

/** Lets things fail one after the other, so that one domain always serves. */
export class Outages {
  readonly struck: Strike[] = [];

  constructor(private readonly on: OutagesOn) {}

  async make(strikes: readonly Strike[], progress: (step: string) => void): Promise<void> {
    const { nodes, slowWays, history } = this.on;
    for (const strike of strikes) {
      await history.untilMore(strike.operations);
      progress(`${history.operations.length} operations; ${strike.outage} (${strike.domain + 1})`);
      await slowWays.whileSparing(strike.domain, async () => {
        await this.#strike(strike);
        await untilServing(nodes.edge, ...nodes.domains);
      });
      this.struck.push(strike);
    }
  }

  async #strike({ outage, domain, operations }: Strike): Promise<void> {
    const { nodes, ways, history } = this.on;
    const [node, way] = [nodes.domains[domain], ways[domain]];
    const whileAway = async () => {
      await untilKnownAway(nodes.edge, node);
      await history.untilMore(operations);
    };
    switch (outage) {
      case 'edge killed':
        return this.#killEdge();
      case 'domain killed':
        return kill(node, whileAway);
      case 'domain frozen':
        node.process.signal('SIGSTOP');
        return whileAway().finally(() => node.process.signal('SIGCONT'));
      case 'connections cut':
        way.cut();
        return whileAway().finally(() => way.mend());
      case 'network silent':
        way.hold();
        return whileAway().finally(() => way.release());
      case 'answers to commits lost':
        return loseAnswers(way);
    }
  }

  async #killEdge(): Promise<void> {
    const { nodes } = this.on;
    nodes.edge.signal('SIGKILL');
    await nodes.edge.exited;
    await nodes.startEdge();
  }
}

async function kill(node: DomainNode, whileAway: () => Promise<void>): Promise<void> {
  node.process.signal('SIGKILL');
  await node.process.exited;
  await whileAway();
  await node.start();
}

/** The commits are made, and the connections stay open. */
async function loseAnswers(way: WayToDatabase): Promise<void> {
  for (let lost = 0; lost < LOST_ANSWERS; lost += 1) {
    const before = way.stalled();
    way.stallNext('before its answer');
    await eventually('a commit without an answer', () => way.stalled() > before);
  }
}
