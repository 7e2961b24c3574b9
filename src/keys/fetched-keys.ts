import { type CryptoKey, importJWK } from 'jose';
import type { Clock } from '../domain/clock.js';

/** Limits how often an old set causes a fetch while the domain is unavailable. */
const MIN_FETCH_INTERVAL_MS = 10_000;
/** Limits how often unknown key ids cause a fetch. */
const MIN_SEARCH_INTERVAL_MS = 1_000;

/** Keys of other algorithms are left out. */
export const ACCESS_TOKEN_ALGORITHM = 'ES256';

/** A key of the key set in the contract. */
interface FetchedKey {
  kid: string;
  algorithm: string;
  jwkJson: string;
}

/** Called with the id of the key that is wanted, if it is one that the set may lack. */
export type FetchKeySet = (
  wantedKid?: string,
) => Promise<{ keys: readonly FetchedKey[]; maxAgeSeconds: number }>;

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
  #staleAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #isFetching = false;
  /** The newest fetch, under way or done. */
  #fetched: Promise<void> | undefined;

  constructor(private readonly options: FetchedKeysOptions) {}

  /** Waits only for the first set. An old set is replaced while it is in use. */
  async atHand(): Promise<void> {
    if (this.#byKid === undefined) {
      await this.#fetch();
    } else if (this.options.clock() >= this.#staleAt && this.#mayFetch(MIN_FETCH_INTERVAL_MS)) {
      this.#fetch().catch(() => undefined);
    }
  }

  /** Undefined if the set does not have the key. Throws if that is unknown, because the last fetch failed. */
  async find(kid: string | undefined): Promise<CryptoKey | undefined> {
    const key = this.#byKid?.get(kid ?? '');
    if (key || kid === undefined) {
      return key;
    }
    await (this.#mayFetch(MIN_SEARCH_INTERVAL_MS) ? this.#fetch(kid) : this.#fetched);
    return this.#byKid?.get(kid);
  }

  #mayFetch(intervalMs: number): boolean {
    return Math.abs(this.options.clock() - this.#triedAt) >= intervalMs;
  }

  #fetch(wantedKid?: string): Promise<void> {
    if (this.#fetched === undefined || !this.#isFetching) {
      this.#isFetching = true;
      this.#fetched = this.#load(wantedKid).finally(() => {
        this.#isFetching = false;
      });
    }
    return this.#fetched;
  }

  async #load(wantedKid: string | undefined): Promise<void> {
    this.#triedAt = this.options.clock();
    const { keys, maxAgeSeconds } = await this.options.fetch(wantedKid);
    const wanted = keys.filter(({ algorithm }) => algorithm === ACCESS_TOKEN_ALGORITHM);
    const imported = await Promise.all(
      wanted.map(
        async ({ kid, jwkJson }) =>
          [kid, (await importJWK(JSON.parse(jwkJson), ACCESS_TOKEN_ALGORITHM)) as CryptoKey] as const,
      ),
    );
    this.#staleAt = this.#triedAt + maxAgeSeconds * 1_000;
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
