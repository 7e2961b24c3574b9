import { type CryptoKey, importJWK } from 'jose';
import type { Clock } from '../domain/clock.js';

/** Limits how often an old set causes a fetch while the domain is unavailable. */
const MIN_FETCH_INTERVAL_MS = 10_000;
/** Limits how often unknown key ids cause a fetch. */
const MIN_SEARCH_INTERVAL_MS = 1_000;

/** Keys of other algorithms are left out. */
export const ACCESS_TOKEN_ALGORITHM = 'ES256';

/** Fetches the key set of the contract. It is given the id of the wanted key where the set may lack it. */
export type FetchKeySet = (wantedKid?: string) => Promise<{
  keys: readonly { kid: string; algorithm: string; jwkJson: string }[];
  maxAgeSeconds: number;
}>;

interface FetchedKeysOptions {
  fetch: FetchKeySet;
  clock: Clock;
  /** Called when another set was fetched. */
  onChange(): void;
}

/** A fetched key set. It is used until a newer one is fetched: keys are published long before they sign. */
export class FetchedKeys {
  #byKid: ReadonlyMap<string, CryptoKey> | undefined;
  #kids = '';
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #staleAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;
  #searchedAt = Number.NEGATIVE_INFINITY;
  /** The newest search for a key, under way or done. */
  #searched: Promise<void> | undefined;
  #fetchesBegun = 0;
  /** The number of the fetch that the set is from. */
  #setFrom = 0;

  constructor(private readonly options: FetchedKeysOptions) {}

  /** Waits only for the first set. An old set is replaced while it is in use. */
  async atHand(): Promise<void> {
    const now = this.options.clock();
    // After the clock was set back, the age of the set is unknown.
    const isOld = now < this.#fetchedAt || now >= this.#staleAt;
    if (this.#byKid === undefined) {
      await this.#fetchOnce();
    } else if (isOld && Math.abs(now - this.#triedAt) >= MIN_FETCH_INTERVAL_MS) {
      this.#fetchOnce().catch(() => undefined);
    }
  }

  /**
   * Undefined if the set does not have the key; anything can be in the header of a token. Throws if that is
   * unknown, because the last search failed.
   */
  async find(kid: unknown): Promise<CryptoKey | undefined> {
    if (typeof kid !== 'string') {
      return undefined;
    }
    const key = this.#byKid?.get(kid);
    if (key) {
      return key;
    }
    const now = this.options.clock();
    if (Math.abs(now - this.#searchedAt) >= MIN_SEARCH_INTERVAL_MS) {
      this.#searchedAt = now;
      this.#searched = this.#load(kid);
    }
    await this.#searched;
    return this.#byKid?.get(kid);
  }

  #fetchOnce(): Promise<void> {
    this.#triedAt = this.options.clock();
    this.#fetching ??= this.#load().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #load(wantedKid?: string): Promise<void> {
    this.#fetchesBegun += 1;
    const number = this.#fetchesBegun;
    const beganAt = this.options.clock();
    const { keys, maxAgeSeconds } = await this.options.fetch(wantedKid);
    const wanted = keys.filter(({ algorithm }) => algorithm === ACCESS_TOKEN_ALGORITHM);
    const imported = await Promise.all(
      wanted.map(
        async ({ kid, jwkJson }) =>
          [kid, (await importJWK(JSON.parse(jwkJson), ACCESS_TOKEN_ALGORITHM)) as CryptoKey] as const,
      ),
    );
    if (number < this.#setFrom) {
      // The answer to a later fetch came first.
      return;
    }
    this.#setFrom = number;
    this.#fetchedAt = beganAt;
    this.#staleAt = beganAt + maxAgeSeconds * 1_000;
    const kids = wanted
      .map(({ kid }) => kid)
      .sort()
      .join(' ');
    if (this.#byKid === undefined || kids !== this.#kids) {
      this.#byKid = new Map(imported);
      this.#kids = kids;
      this.options.onChange();
    }
  }
}
