import { setTimeout as pause } from 'node:timers/promises';
import { randomFrom } from '../../support/random-from.js';
import type { History } from './history.js';
import type { WayToDatabase } from './outages.js';

/** In operations. */
const LONGEST_PERIOD = 100;
/** In operations, too: enough for two of the same family, on a fast machine and on a busy one. */
const DELAY = { least: 16, most: 48 };
/** A late transaction holds the lock of its row, so that others may wait and few operations end. */
const MOST_MS = 400;
const LATE_PER_ID = 2;
const LATE_SHARE = 0.6;

/**
 * At one domain at a time, in periods of the seed, some transactions about a code or a grant get the
 * answer to their first statement late: others overtake those that decide by what they have read.
 */
export class SlowWays {
  /** So many answers came late. */
  late = 0;
  readonly #random: () => number;
  #slow = 0;
  #periodEnd = 0;
  #spared: number | undefined;
  /** How many answers about each may still be late. */
  readonly #ids = new Map<string, number>();
  /** By id; one answer about each is late at a time. */
  readonly #waiting = new Map<string, () => void>();

  constructor(
    ways: readonly [WayToDatabase, WayToDatabase],
    private readonly history: History,
    seed: number,
  ) {
    this.#random = randomFrom(seed);
    ways.forEach((way, index) => {
      way.answerAt((asked) => {
        const id = this.#isSlow(index) && this.#idIn(asked);
        return id ? this.#later(id) : undefined;
      });
    });
  }

  /** Makes answers about this grant, or the code with this hash, late. */
  slow(id: string): void {
    this.#ids.set(id, LATE_PER_ID);
  }

  /** While one fails the other is slow: the locks of late transactions would last as long as the failure. */
  async whileSparing(domain: number, work: () => Promise<void>): Promise<void> {
    this.#spared = domain;
    for (const answer of this.#waiting.values()) {
      answer();
    }
    await work().finally(() => {
      this.#spared = undefined;
    });
  }

  #isSlow(way: number): boolean {
    const { length } = this.history.operations;
    if (length >= this.#periodEnd) {
      this.#periodEnd = length + 1 + this.#below(LONGEST_PERIOD);
      this.#slow = this.#below(2);
    }
    return this.#spared === undefined ? way === this.#slow : way !== this.#spared;
  }

  /** A transaction begins with its first statement, in one part. */
  #idIn(asked: Buffer): string | undefined {
    if (!asked.includes('begin ') || this.#random() >= LATE_SHARE) {
      return undefined;
    }
    const [id, left = 0] = [...this.#ids].find(([id]) => asked.includes(id)) ?? [];
    return left > 0 && id !== undefined && !this.#waiting.has(id) ? id : undefined;
  }

  async #later(id: string): Promise<void> {
    this.late += 1;
    this.#ids.set(id, (this.#ids.get(id) as number) - 1);
    const operations = DELAY.least + this.#below(DELAY.most - DELAY.least);
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    this.#waiting.set(id, answer);
    await Promise.race([answered, this.history.more(operations), pause(MOST_MS)]);
    this.#waiting.delete(id);
  }

  #below(end: number): number {
    return Math.floor(this.#random() * end);
  }
}
