/**
 * Lets a few begin in each turn of the event loop, and the others in the turns after it. What is asked of the domain in a turn leaves this process at the end of it: without
 * this, requests that came together would all be prepared before the domain hears of the first, and it would idle, and then this process while the domain answers them.
 */
export class Turns {
  readonly #perTurn: number;
  readonly #waiting: (() => void)[] = [];
  #left: number;
  #isCounting = false;

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /** Undefined for who may begin at once. */
  take(): Promise<void> | undefined {
    this.#countUntilNextTurn();
    if (this.#left > 0) {
      this.#left -= 1;
      return undefined;
    }
    return new Promise((begin) => this.#waiting.push(begin));
  }

  #countUntilNextTurn(): void {
    if (!this.#isCounting) {
      this.#isCounting = true;
      setImmediate(() => this.#beginTurn());
    }
  }

  #beginTurn(): void {
    this.#isCounting = false;
    const begun = this.#waiting.splice(0, this.#perTurn);
    this.#left = this.#perTurn - begun.length;
    if (begun.length > 0) {
      this.#countUntilNextTurn();
    }
    for (const begin of begun) {
      begin();
    }
  }
}
