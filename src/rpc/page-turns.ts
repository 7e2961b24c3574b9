/** Enough that one list need not wait for the turn after its own. */
const PAGES_AT_ONCE = 2;

/**
 * Lets a few pages be made at once, the next ones in a later turn of the event loop and in the order in which they were asked for. What else waits to be answered comes in
 * between: however many lists are read, a short call waits for a few pages and not for one of each list.
 */
export class PageTurns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce = PAGES_AT_ONCE) {
    this.#free = atOnce;
  }

  async make<T>(page: () => Promise<T>): Promise<T> {
    if (this.#free > 0) {
      this.#free -= 1;
    } else {
      await new Promise<void>((begin) => this.#waiting.push(begin));
    }
    try {
      return await page();
    } finally {
      setImmediate(() => this.#passOn());
    }
  }

  #passOn(): void {
    const begin = this.#waiting.shift();
    if (begin) {
      begin();
    } else {
      this.#free += 1;
    }
  }
}
