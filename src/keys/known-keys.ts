import type { Clock } from '../domain/clock.js';
import type { SigningKey } from '../domain/sign-on/keys/signing-keys.js';

/** A key that another node withdraws is unknown here after this time. */
const MAX_AGE_MS = 15_000;
/** From this age on, keys are read again in the background while the present ones serve. */
const REFRESH_AFTER_MS = 10_000;
/** Limits how often unknown key ids cause a read. */
const MIN_SEARCH_INTERVAL_MS = 1_000;

export interface KnownKeysOptions {
  load(): Promise<readonly SigningKey[]>;
  clock: Clock;
  /** A background read failed; another one follows. */
  onError(error: unknown): void;
}

/** The rows of the signing keys, as of the last read. */
export class KnownKeys {
  #rows: readonly SigningKey[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #searchedAt = Number.NEGATIVE_INFINITY;
  /** The newest search, under way or done. */
  #searched: Promise<void> | undefined;
  #reading: Promise<void> | undefined;

  constructor(private readonly options: KnownKeysOptions) {}

  /** The present keys, if they are recent enough. */
  get young(): readonly SigningKey[] | undefined {
    const ageMs = this.options.clock() - this.#readAt;
    // After the clock was set back, the age of the rows is unknown.
    if (ageMs < 0 || ageMs >= MAX_AGE_MS) {
      return undefined;
    }
    if (ageMs >= REFRESH_AFTER_MS) {
      this.#read().catch(this.options.onError);
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

  /** The keys read last, if newer ones are unavailable. */
  async newestAtHand(): Promise<readonly SigningKey[]> {
    return this.all().catch((error: unknown) => {
      if (this.#rows.length === 0) {
        throw error;
      }
      this.options.onError(error);
      return this.#rows;
    });
  }

  /** Reads again for a key that is missing: it may be new. */
  async search(
    find: (keys: readonly SigningKey[]) => SigningKey | undefined,
  ): Promise<SigningKey | undefined> {
    const found = find(await this.all());
    if (found) {
      return found;
    }
    // After a failed search, the key is not known to be missing.
    await this.searchAnew();
    return find(this.#rows);
  }

  /** Reads again, unless a search did so a moment ago. */
  async searchAnew(): Promise<void> {
    const now = this.options.clock();
    if (Math.abs(now - this.#searchedAt) >= MIN_SEARCH_INTERVAL_MS) {
      this.#searchedAt = now;
      this.#searched = this.reload();
    }
    await this.#searched;
  }

  /** Keys that were committed before the call are known after it. */
  async reload(): Promise<void> {
    // A read under way may have begun before the commit.
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
    // The age counts from before the read, which may miss what is committed during it.
    const readAt = this.options.clock();
    this.#rows = await this.options.load();
    this.#readAt = readAt;
  }
}
