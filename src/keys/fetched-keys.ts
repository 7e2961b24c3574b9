import { type CryptoKey, importJWK } from 'jose';
import type { Clock } from '../domain/clock.js';

/** How often at most unknown keys are looked up, or an unavailable domain is asked. */
const MIN_FETCH_INTERVAL_MS = 10_000;

/** Keys of other algorithms are left out. */
export const ACCESS_TOKEN_ALGORITHM = 'ES256';

/** A key of the key set in the contract. */
interface FetchedKey {
  kid: string;
  algorithm: string;
  jwkJson: string;
}

export type FetchKeySet = () => Promise<{ keys: readonly FetchedKey[]; maxAgeSeconds: number }>;

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
  #fetching: Promise<void> | undefined;

  constructor(private readonly options: FetchedKeysOptions) {}

  /** Waits only for the first set. An old set is replaced while it is in use. */
  async atHand(): Promise<void> {
    if (this.#byKid === undefined) {
      await this.#fetch();
    } else if (this.options.clock() >= this.#staleAt && this.#mayFetch()) {
      this.#fetch().catch(() => undefined);
    }
  }

  async find(kid: string | undefined): Promise<CryptoKey> {
    const key = this.#byKid?.get(kid ?? '') ?? (await this.#search(kid));
    if (key === undefined) {
      throw new Error('The key is not in the set.');
    }
    return key;
  }

  async #search(kid: string | undefined): Promise<CryptoKey | undefined> {
    if (kid === undefined || !(this.#fetching || this.#mayFetch())) {
      return undefined;
    }
    await this.#fetch();
    return this.#byKid?.get(kid);
  }

  #mayFetch(): boolean {
    return Math.abs(this.options.clock() - this.#triedAt) >= MIN_FETCH_INTERVAL_MS;
  }

  #fetch(): Promise<void> {
    this.#fetching ??= this.#load().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #load(): Promise<void> {
    this.#triedAt = this.options.clock();
    const { keys, maxAgeSeconds } = await this.options.fetch();
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
