import type { Reader } from '../database.js';

export interface CheckSettings {
  now: number;
  /** The purge may have removed deliveries of older events. */
  eventsMs: number;
}

export interface Found {
  count: number;
  /** The first findings, in terms that a log search finds. */
  examples: readonly string[];
}

/** One kind of damage. It reads in pages, because the database serves meanwhile. */
export interface Check {
  /** For scripts. */
  name: string;
  /** A sentence about the sound state. */
  about: string;
  /** What to do about findings. */
  remedy: string;
  find(reader: Reader, settings: CheckSettings): Promise<Found>;
}

const MOST_EXAMPLES = 10;

/** Counts all, keeps the first. */
export class Tally {
  #count = 0;
  readonly #examples: string[] = [];

  add(example: string): void {
    this.#count += 1;
    if (this.#examples.length < MOST_EXAMPLES) {
      this.#examples.push(example);
    }
  }

  found(): Found {
    return { count: this.#count, examples: this.#examples };
  }
}
