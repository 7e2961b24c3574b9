/** Starts a few jobs per turn of the event loop, so that none keeps the others waiting for long. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #left: number;
  readonly #countUntilNextTurn = inNextTurn(() => this.#beginTurn());

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

  #beginTurn(): void {
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

/** Returns a function that does the work in the next turn of the event loop, once for all its calls. */
export function inNextTurn(work: () => void): () => void {
  let isDue = false;
  return () => {
    if (!isDue) {
      isDue = true;
      setImmediate(() => {
        isDue = false;
        work();
      });
    }
  };
}
