/**
 * Starts a few jobs per turn of the event loop. Calls leave the process at the end of a turn, so the domain
 * begins on the first while the next are prepared. Lanes alternate.
 */
export class Turns {
  readonly #perTurn: number;
  /** Lanes in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #left: number;
  #isCounting = false;

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /** Undefined if the job may begin at once. */
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
        // Moves the lane to the end.
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
