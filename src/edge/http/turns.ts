/**
 * Lets a few begin in each turn of the event loop, and the others in the turns after it. What is asked of the domain in a turn leaves this process at the end of it: without
 * this, requests that came together would all be prepared before the domain hears of the first, and it would idle, and then this process while the domain answers them.
 * Lanes alternate, so that one with many waiting delays the others by one each.
 */
export class Turns {
  readonly #perTurn: number;
  /** The next lane comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #left: number;
  #isCounting = false;

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /** Undefined for who may begin at once. */
  take(lane = ''): Promise<void> | undefined {
    this.#countUntilNextTurn();
    if (this.#left > 0) {
      this.#left -= 1;
      return undefined;
    }
    return new Promise((begin) => {
      const waiting = this.#waiting.get(lane);
      if (waiting) {
        waiting.push(begin);
      } else {
        this.#waiting.set(lane, [begin]);
      }
    });
  }

  #countUntilNextTurn(): void {
    if (!this.#isCounting) {
      this.#isCounting = true;
      setImmediate(() => this.#beginTurn());
    }
  }

  #beginTurn(): void {
    this.#isCounting = false;
    this.#left = this.#perTurn;
    const begun: (() => void)[] = [];
    for (const [lane, waiting] of this.#waiting) {
      if (this.#left === 0) {
        break;
      }
      this.#left -= 1;
      begun.push(waiting.shift() as () => void);
      this.#waiting.delete(lane);
      if (waiting.length > 0) {
        // Behind the others; the loop comes to it again.
        this.#waiting.set(lane, waiting);
      }
    }
    if (begun.length > 0) {
      this.#countUntilNextTurn();
    }
    for (const begin of begun) {
      begin();
    }
  }
}
