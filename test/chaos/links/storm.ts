import type { WebhookEvent } from '../../../generated/proto/integration/webhooks/v1/events.js';
import { call } from '../../flow/sign-on/environment.js';
import { connectionIds } from '../../flow/webhooks/webhook-environment.js';
import { eventually } from '../../support/eventually.js';
import type { Behaviour } from '../../support/webhooks/subscribers.js';
import { untilKnownAway, untilServing } from '../calls/two-domains.js';
import type { Evidence } from '../webhooks/judge.js';
import { WebhookTestimony } from '../webhooks/testimony.js';
import type { LinkedService, LinkName, Way } from './linked-service.js';
import { LIMIT_MS, type Load } from './load.js';
import type { Strike } from './plan.js';

/** Before a cut. */
const LOST_ANSWERS = 3;
const LOST_COMMITS = 3;
const EVENT_TYPES = ['user.created', 'user.updated'];

export const BEHAVIOURS: readonly Behaviour[] = [{ kind: 'accepts' }, { kind: 'refuses' }];

/** What became of the reads in a part of a strike. */
export interface Reads {
  strike: Strike<LinkName>;
  /** Each is promised an answer. */
  isCalm: boolean;
  answered: number;
  refused: number;
  cut: number;
}

interface Subscribed {
  id: string;
  clientIds: readonly string[];
}

/** Strikes at one link after the other under load, with receivers that subscribe to what is written. */
export class LinkStorm {
  readonly struck: Strike<LinkName>[] = [];
  readonly reads: Reads[] = [];
  readonly #testimony: WebhookTestimony;
  readonly #subscribed: Subscribed[] = [];
  /** Of the crowds, which are there before the subscriptions. */
  #earlier = new Set<string>();

  constructor(
    private readonly service: LinkedService,
    private readonly load: Load,
    private readonly progress: (step: string) => void,
  ) {
    this.#testimony = new WebhookTestimony(service.operator);
  }

  /** Over when all strikes are made and mended, and nothing is to be sent any more. */
  async run(strikes: readonly Strike<LinkName>[], endLimitMs: number): Promise<void> {
    await this.#subscribe();
    await Promise.all([this.load.run(), this.#strikeAll(strikes).finally(() => this.load.stop())]);
    this.progress(`${this.load.operations} operations; waiting for the last retries`);
    const ids = this.#subscribed.map(({ id }) => id);
    await this.#testimony.untilAllEnded(ids, endLimitMs);
  }

  /** Of the users that were made and moved. */
  async evidence(): Promise<Omit<Evidence, 'events'> & { events: WebhookEvent[] }> {
    const events = (await this.#events()).filter(({ id }) => !this.#earlier.has(id));
    const subscribed = this.#subscribed.map(({ id, clientIds }) => ({
      id,
      matches: ({ clientId }: { clientId: string }) => clientIds.includes(clientId),
      losesAnswers: true,
    }));
    const requests = await this.service.receivers.records();
    return { ...(await this.#testimony.evidence(events, subscribed, requests)), events };
  }

  #events(): Promise<WebhookEvent[]> {
    return this.#testimony.events(
      this.load.crowds.map(({ clientId }) => clientId),
      EVENT_TYPES,
    );
  }

  async #subscribe(): Promise<void> {
    const { receiverUrls, receivers } = this.service;
    this.#earlier = new Set((await this.#events()).map(({ id }) => id));
    for (const [index, behaviour] of BEHAVIOURS.entries()) {
      // The one that refuses gets the half of it.
      const clientIds = this.load.crowds.slice(index).map(({ clientId }) => clientId);
      const { subscription, secret } = await this.#testimony.webhooks.createSubscription(
        {
          ...{ clientIds, eventTypes: EVENT_TYPES, description: behaviour.kind },
          ...{ instanceIntegrationId: connectionIds.harborlight, url: receiverUrls[index] ?? '' },
        },
        call(),
      );
      receivers.subscribe(index, secret, behaviour);
      this.#subscribed.push({ id: subscription?.id ?? '', clientIds });
    }
  }

  async #strikeAll(strikes: readonly Strike<LinkName>[]): Promise<void> {
    await this.load.untilEachIsAnswered();
    for (const strike of strikes) {
      const [begunAt, before] = [performance.now(), this.load.operations];
      const what = `${strike.link} ${strike.kind}`;
      const reads = await this.#strike(strike).catch((error: Error) => {
        throw new Error(`${what}: ${error.message}`);
      });
      this.struck.push(strike);
      this.reads.push(...reads);
      const refused = reads.reduce((sum, part) => sum + part.refused, 0);
      const duration = `${((performance.now() - begunAt) / 1_000).toFixed(1)} s`;
      this.progress(
        `${what}: ${this.load.operations - before} operations in ${duration}, ${refused} reads refused`,
      );
    }
  }

  async #strike(strike: Strike<LinkName>): Promise<Reads[]> {
    const { link, kind, operations } = strike;
    const { edge, worker, domains } = this.service.nodes;
    const { traffic } = this.load;
    const ways = this.service.ways.get(link) ?? [];
    const losesDatabase = link.endsWith('PostgreSQL') && (kind === 'cut' || kind === 'silent');
    const phases = [traffic.begin({ isCalm: !losesDatabase })];
    // So that each read that the strike meets belongs to this phase.
    await traffic.untilEachAnswered(1);
    await this.#begin(ways, strike);
    if (kind === 'cut' || kind === 'silent') {
      await this.#untilKnown(link);
      // A domain without its database refuses the calls that it has, and then gets no more.
      phases.push(traffic.begin({ isCalm: true }));
    }
    await this.load.untilMore(operations);
    end(ways);
    await untilServing(edge, ...domains);
    await untilServing(worker, ...domains);
    await this.load.untilEachIsAnswered();
    return phases.map(({ isCalm, answered, refused, cut }) => ({ strike, isCalm, answered, refused, cut }));
  }

  /** Over when it is felt. */
  async #begin(ways: readonly Way[], { link, kind, delayMs }: Strike<LinkName>): Promise<void> {
    this.load.burst();
    if (kind === 'cut') {
      await (link.endsWith('PostgreSQL') ? loseCommits(ways) : loseAnswers(ways));
    }
    const before = feltOn(ways);
    begin(ways, kind, delayMs);
    await untilFelt(ways, before + 1);
  }

  /** Those that call a domain find that it does not serve. */
  async #untilKnown(link: LinkName): Promise<void> {
    const { edge, worker, domains } = this.service.nodes;
    const domain = domains.find((_, index) => link.includes(`domain ${index + 1}`));
    const callers = link.startsWith('edge') ? [edge] : link.startsWith('worker') ? [worker] : [edge, worker];
    if (domain) {
      await Promise.all(callers.map((caller) => untilKnownAway(caller, domain)));
    }
  }
}

function feltOn(ways: readonly Way[]): number {
  return ways.reduce((sum, way) => sum + way.felt(), 0);
}

async function untilFelt(ways: readonly Way[], parts: number): Promise<void> {
  await eventually('a strike that is felt', () => feltOn(ways) >= parts, LIMIT_MS);
}

/** So that the cut leaves something done of which the caller does not know. */
async function loseAnswers(ways: readonly Way[]): Promise<void> {
  const before = feltOn(ways);
  for (const way of ways) {
    way.hold('answers');
  }
  await untilFelt(ways, before + LOST_ANSWERS);
}

/** Of some the server hears nothing, of others the domain. */
async function loseCommits(ways: readonly Way[]): Promise<void> {
  for (const way of ways) {
    for (const stall of ['before the commit', 'before its answer'] as const) {
      for (let lost = 0; lost < LOST_COMMITS; lost += 1) {
        const before = way.stalled();
        way.stallNext(stall);
        await eventually('a commit to lose', () => way.stalled() > before, LIMIT_MS);
      }
    }
  }
}

function begin(ways: readonly Way[], kind: Strike['kind'], delayMs: number): void {
  const strikes = {
    cut: (way: Way) => way.cut(),
    silent: (way: Way) => way.hold(),
    forgotten: (way: Way) => way.forget(),
    slow: (way: Way) => way.delay(delayMs, 'all'),
  };
  for (const way of ways) {
    strikes[kind](way);
  }
}

function end(ways: readonly Way[]): void {
  for (const way of ways) {
    way.mend();
    way.release();
  }
}
