import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { AttemptFault } from './attempt.js';

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

const KEPT_MS = 10_000;
const MOST_KEPT = 1_000;
/** An owner of a name can give it thousands, each of which every dial would check. Few are ever tried. */
const MOST_OF_A_FAMILY = 8;
const QUERY = { timeout: 2_000, tries: 2 };
/** Once IPv4 has addresses, IPv6 has as long as most servers ever take. */
const IPV6_MS = 500;
/** A machine may reach IPv4 only: it is waited for until a second packet is answered. */
const IPV4_MS = QUERY.timeout + IPV6_MS;

/** DNS has no such name, or there is no DNS: the system may have more, such as a hosts file. */
const NOT_IN_DNS: ReadonlySet<unknown> = new Set([
  'ENOTFOUND',
  'ENODATA',
  'ENONAME',
  'ECONNREFUSED',
  'EBADNAME',
  'EFORMERR',
  'ENOTIMP',
]);

/** Resolves a name once for concurrent callers, and caches the answer briefly. */
export class HostNames {
  readonly #known = new Map<string, { addresses: readonly LookupAddress[]; until: number }>();
  readonly #asked = new Map<string, Promise<readonly LookupAddress[]>>();

  constructor(private readonly resolve: Resolve = resolveHostName) {}

  addressesOf(hostname: string): Promise<readonly LookupAddress[]> {
    const known = this.#known.get(hostname);
    if (known && known.until > performance.now()) {
      return Promise.resolve(known.addresses);
    }
    const asked = this.#asked.get(hostname) ?? this.#ask(hostname);
    this.#asked.set(hostname, asked);
    return asked;
  }

  async #ask(hostname: string): Promise<readonly LookupAddress[]> {
    try {
      const addresses = firstOf(await this.resolve(hostname));
      if (this.#known.size >= MOST_KEPT) {
        this.#known.clear();
      }
      this.#known.set(hostname, { addresses, until: performance.now() + KEPT_MS });
      return addresses;
    } catch (error) {
      throw new AttemptFault('NAME_NOT_RESOLVED', sentenceFor(hostname, (error as { code?: unknown }).code));
    } finally {
      this.#asked.delete(hostname);
    }
  }
}

function firstOf(addresses: readonly LookupAddress[]): LookupAddress[] {
  const counts: Record<number, number> = {};
  return addresses.filter(({ family }) => {
    counts[family] = (counts[family] ?? 0) + 1;
    return counts[family] <= MOST_OF_A_FAMILY;
  });
}

interface Resolvers {
  /** The name servers, without a thread. */
  ask(hostname: string): Promise<readonly LookupAddress[]>;
  /** The resolver of the system: hosts file, search domains. */
  system(hostname: string): Promise<readonly LookupAddress[]>;
}

/**
 * Asks name servers first: the system's resolver takes two names at a time, which names with dead servers
 * would block for all. Names without a dot go to the system at once. Others, whose owners can make it wait
 * (their servers deny a name once and then fall silent), take turns for one of its two places.
 */
export function resolving({ ask, system }: Resolvers): Resolve {
  const turns = new SystemTurns();
  return async (hostname) => {
    if (!/\.[^.]/.test(hostname)) {
      return system(hostname);
    }
    const addresses = await ask(hostname);
    return addresses.length > 0 ? addresses : turns.take(hostname, () => system(hostname));
  };
}

type LookUp = () => Promise<readonly LookupAddress[]>;

/**
 * One look-up at a time. A name that the system knew the last time does not wait: while the place is taken,
 * it has the addresses of that time, and its next look-up takes turns with those of the others.
 */
class SystemTurns {
  readonly #known = new Map<string, readonly LookupAddress[]>();
  /** Known names with a look-up queued or running for which no caller waits. */
  readonly #renewed = new Set<string>();
  readonly #first: (() => void)[] = [];
  readonly #others: (() => void)[] = [];
  #isTaken = false;
  #wasFirst = false;

  async take(hostname: string, lookUp: LookUp): Promise<readonly LookupAddress[]> {
    const known = this.#isTaken ? this.#known.get(hostname) : undefined;
    if (known === undefined) {
      return this.#inTurn(hostname, lookUp);
    }
    if (!this.#renewed.has(hostname)) {
      this.#renewed.add(hostname);
      void this.#inTurn(hostname, lookUp)
        .catch(() => undefined)
        .finally(() => this.#renewed.delete(hostname));
    }
    return known;
  }

  async #inTurn(hostname: string, lookUp: LookUp): Promise<readonly LookupAddress[]> {
    if (this.#isTaken) {
      const waiting = this.#known.has(hostname) ? this.#first : this.#others;
      await new Promise<void>((begin) => waiting.push(begin));
    }
    this.#isTaken = true;
    try {
      const found = firstOf(await lookUp());
      if (this.#known.size >= MOST_KEPT && !this.#known.has(hostname)) {
        this.#known.clear();
      }
      this.#known.set(hostname, found);
      return found;
    } catch (error) {
      this.#known.delete(hostname);
      throw error;
    } finally {
      const next = this.#next();
      this.#isTaken = next !== undefined;
      next?.();
    }
  }

  /** Known names and others take turns, because known ones are looked up again and again. */
  #next(): (() => void) | undefined {
    const [one, other] = this.#wasFirst ? [this.#others, this.#first] : [this.#first, this.#others];
    const waiting = one.length > 0 ? one : other;
    this.#wasFirst = waiting === this.#first;
    return waiting.shift();
  }
}

const resolveHostName = resolving({
  ask: (hostname) => askNameServers(hostname),
  system: (hostname) => lookup(hostname, { all: true }),
});

/** Returns none if the system may know the name. */
export async function askNameServers(
  hostname: string,
  resolver: Pick<Resolver, 'resolve4' | 'resolve6' | 'cancel'> = new Resolver(QUERY),
): Promise<readonly LookupAddress[]> {
  const asked = [resolver.resolve4(hostname), resolver.resolve6(hostname)] as const;
  // Some servers answer for one family and are silent for the other (RFC 4074).
  const cancelAfter = (ms: number) => () => setTimeout(() => resolver.cancel(), ms).unref();
  void asked[0].then(cancelAfter(IPV6_MS), () => undefined);
  void asked[1].then(cancelAfter(IPV4_MS), () => undefined);
  const [ipv4, ipv6] = await Promise.allSettled(asked);
  const addresses = [...addressesIn(ipv4, 4), ...addressesIn(ipv6, 6)];
  if (addresses.length === 0) {
    for (const { reason } of [ipv4, ipv6].filter((answer) => answer.status === 'rejected')) {
      if (!NOT_IN_DNS.has(reason.code)) {
        throw reason;
      }
    }
  }
  return addresses;
}

function addressesIn(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}

function sentenceFor(hostname: string, code: unknown): string {
  return code === 'ENOTFOUND' || code === 'ENODATA'
    ? `The host name ${hostname} does not exist.`
    : `The host name ${hostname} could not be resolved: the name servers gave no answer (${code}).`;
}
