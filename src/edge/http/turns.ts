/** Starts a few jobs per turn of the event loop, so that none keeps the others waiting for long. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #left: number;
  #isCounting = false;

  constructor(private readonly perTurn: number) {
    this.#left = perTurn;
  }

  /** Undefined if the job may begin at once. */
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
    const begun = this.#waiting.splice(0, this.perTurn);
    this.#left = this.perTurn - begun.length;
    if (begun.length > 0) {
      this.#countUntilNextTurn();
    }
    for (const begin of begun) {
      begin();
    }
  }
}
