import { lookup } from 'node:dns/promises';
import { NotReached } from '../../errors/service-error.js';
import { hostAndPortOf } from '../../identifiers/network-address.js';
import type { Member, MemberReport } from './member.js';

const TURN_MS = 250;
const LOOK_UP_EVERY_TURNS = 20;

/** A host name, which may resolve to any number of servers. */
interface Name {
  address: string;
  places: readonly Place[];
  problem: string | undefined;
}

/**
 * The servers of a channel. If there are several, or a host name, each is asked for its health at regular
 * times. Calls go to servers that serve. While none does, they go to those that have just fallen silent,
 * then to those that answer, and otherwise to any.
 */
export class Members {
  #members: Member[] = [];
  /** Servers that DNS no longer lists, until their calls have ended. */
  readonly #leaving = new Set<Member>();
  readonly #places: readonly Place[];
  readonly #names: readonly Name[];
  readonly #timer: NodeJS.Timeout | undefined;
  #turns = 0;
  /** Consecutive turns at which a member served. */
  #servingTurns = 0;
  #isLookingUp = false;
  #first = 0;
  #isClosed = false;

  constructor(
    addresses: string,
    private readonly newMember: (place: Place) => Member,
    private readonly placesOfName = placesOf,
  ) {
    const given = addressesIn(addresses);
    this.#places = given.filter((address) => !isName(address)).map((address) => ({ address }));
    this.#names = given.filter(isName).map((address) => ({ address, places: [], problem: undefined }));
    this.#replace();
    if (given.length > 1 || this.#names.length > 0) {
      this.#timer = setInterval(() => this.#turn(), TURN_MS).unref();
      this.#turn();
      void this.#lookUp();
    }
  }

  /** The best server, and of several the one with the least load. */
  best(loadOf: (member: Member) => number): Member {
    const count = this.#members.length;
    let best = this.#members[0];
    if (!best) {
      throw new NotReached('no server address is known');
    }
    if (count === 1) {
      return best;
    }
    // Starts at another server each time, so that servers without load take turns.
    this.#first = (this.#first + 1) % count;
    best = this.#members[this.#first] as Member;
    let least = loadOf(best);
    for (let index = 1; index < count; index += 1) {
      const member = this.#members[(this.#first + index) % count] as Member;
      const load = loadOf(member);
      if ((member.rank - best.rank || load - least) < 0) {
        best = member;
        least = load;
      }
    }
    return best;
  }

  reports(): readonly MemberReport[] {
    const unknown = this.#names
      .filter(({ problem }) => problem !== undefined)
      .map(({ address, problem }) => ({ address, state: 'unreachable', reason: problem }) as const);
    return [...this.#members.map(({ report }) => report), ...unknown];
  }

  /** Later short calls go into new streams, which have the token of that time. */
  renew(): void {
    for (const { shortCalls } of this.#members) {
      shortCalls.renew();
    }
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const member of [...this.#members, ...this.#leaving]) {
      member.close();
    }
  }

  #turn(): void {
    this.#turns += 1;
    for (const member of this.#members) {
      member.turn();
    }
    this.#breakSilent();
    for (const member of [...this.#leaving].filter(({ isIdle }) => isIdle)) {
      this.#leaving.delete(member);
      member.close();
    }
    if (this.#turns % LOOK_UP_EVERY_TURNS === 0) {
      void this.#lookUp();
    }
  }

  /**
   * Ends the calls of silent servers only while another serves: otherwise a slow answer is better than none.
   * The other must have served for two turns, so that servers that thaw together can all answer first. It
   * must not be late with an answer, so that servers that fall silent together keep their calls.
   */
  #breakSilent(): void {
    const doesOneServe = this.#members.some(({ servesNow }) => servesNow);
    this.#servingTurns = doesOneServe ? this.#servingTurns + 1 : 0;
    if (this.#servingTurns > 1) {
      for (const member of this.#members.filter(({ isSilent }) => isSilent)) {
        member.break();
      }
    }
  }

  async #lookUp(): Promise<void> {
    if (this.#isLookingUp) {
      return;
    }
    this.#isLookingUp = true;
    await Promise.all(this.#names.map((name) => this.#find(name)));
    this.#isLookingUp = false;
    if (!this.#isClosed) {
      this.#replace();
    }
  }

  /** Keeps the members that are still listed. */
  #replace(): void {
    const places = new Map(
      [...this.#places, ...this.#names.flatMap((name) => name.places)].map((place) => [place.address, place]),
    );
    const kept = this.#members.filter(({ address }) => places.delete(address));
    const gone = this.#members.filter((member) => !kept.includes(member));
    this.#members = [...kept, ...[...places.values()].map(this.newMember)];
    for (const member of gone) {
      this.#leaving.add(member);
      member.leave();
    }
  }

  /** While a name cannot be looked up, the servers found before stay in use. */
  async #find(name: Name): Promise<void> {
    try {
      name.places = await this.placesOfName(name.address);
      name.problem = undefined;
    } catch (error) {
      name.problem = (error as Error).message;
    }
  }
}

interface Place {
  /** What a connection is made to, as gRPC takes it. */
  address: string;
  /** The `host:port` that its certificate must be for, where the address was found by DNS. */
  name?: string;
}

const DNS = 'dns:///';
/** More of one name are left out: each has connections, and is asked for its health twice a second. */
const MOST_OF_A_NAME = 16;

/** Addresses with commas between them, or one socket. */
function addressesIn(text: string): string[] {
  if (text.startsWith('unix:')) {
    return [text];
  }
  return [...new Set(text.split(',').map((address) => address.trim()))];
}

/** Whether the address is a name with any number of servers behind it. */
function isName(address: string): boolean {
  return address.startsWith(DNS);
}

/** The servers behind a name. Rejects if it has none. */
async function placesOf(address: string): Promise<Place[]> {
  const name = address.slice(DNS.length);
  const { host, port } = hostAndPortOf(name);
  const found = await lookup(host, { all: true });
  const hosts = found.map(({ address: ip, family }) => (family === 6 ? `[${ip}]` : ip));
  return [...new Set(hosts)]
    .sort()
    .slice(0, MOST_OF_A_NAME)
    .map((ip) => ({ address: `${ip}:${port}`, name }));
}
