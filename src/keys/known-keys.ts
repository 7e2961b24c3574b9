import type { Clock } from '../domain/clock.js';
import type { SigningKey } from '../domain/sign-on/signing-keys.js';

/** So old the keys may get: a key that another node withdraws is gone here by then. */
const MAX_AGE_MS = 15_000;
/** Before that they are read anew while the ones at hand are used, so that nobody waits. */
const REFRESH_AFTER_MS = 10_000;
/** Whoever asks for keys that do not exist makes nobody read more often. */
const MIN_SEARCH_INTERVAL_MS = 1_000;

export interface KnownKeysOptions {
  load(): Promise<readonly SigningKey[]>;
  clock: Clock;
  /** A reading that nobody waited for has failed; the next one is on its way. */
  onError(error: unknown): void;
}

/** The rows of the signing keys, as they stood a moment ago. */
export class KnownKeys {
  readonly #options: KnownKeysOptions;
  #rows: readonly SigningKey[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #searchedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(options: KnownKeysOptions) {
    this.#options = options;
  }

  /** Those at hand, if they are young enough. */
  get young(): readonly SigningKey[] | undefined {
    const ageMs = this.#options.clock() - this.#readAt;
    // A clock that was set back says nothing about their age.
    if (ageMs < 0 || ageMs >= MAX_AGE_MS) {
      return undefined;
    }
    if (ageMs >= REFRESH_AFTER_MS) {
      this.#read().catch(this.#options.onError);
    }
    return this.#rows;
  }

  async all(): Promise<readonly SigningKey[]> {
    const young = this.young;
    if (young === undefined) {
      await this.#read();
    }
    return young ?? this.#rows;
  }

  /** Those read last, where no newer ones can be had. */
  async newestAtHand(): Promise<readonly SigningKey[]> {
    return this.all().catch((error: unknown) => {
      if (this.#rows.length === 0) {
        throw error;
      }
      this.#options.onError(error);
      return this.#rows;
    });
  }

  /** One that is not among those at hand may be of a moment ago. */
  async search(
    find: (keys: readonly SigningKey[]) => SigningKey | undefined,
  ): Promise<SigningKey | undefined> {
    const found = find(await this.all());
    const now = this.#options.clock();
    if (found || Math.abs(now - this.#searchedAt) < MIN_SEARCH_INTERVAL_MS) {
      return found;
    }
    this.#searchedAt = now;
    await this.reload();
    return find(this.#rows);
  }

  /** What was committed before the call is known after it. */
  async reload(): Promise<void> {
    // One that is under way may have begun before the commit.
    await this.#reading?.catch(() => undefined);
    await this.#read();
  }

  #read(): Promise<void> {
    this.#reading ??= this.#load().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #load(): Promise<void> {
    // The age counts from before the reading: what is committed during it may be missed.
    const readAt = this.#options.clock();
    this.#rows = await this.#options.load();
    this.#readAt = readAt;
  }
}
