/** A request that waits for its turn. */
export interface Waiting {
  since: number;
  settle: (mayBegin: boolean) => void;
}

/** Queues that take turns, one for each network. */
export class Lanes {
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>();
  #count = 0;

  /** In all lanes. */
  get count(): number {
    return this.#count;
  }

  add(lane: string, one: Waiting): void {
    this.#count += 1;
    const waiting = this.#waiting.get(lane);
    if (waiting) {
      waiting.push(one);
    } else {
      this.#waiting.set(lane, [one]);
    }
  }

  /** Takes out the first of the lane whose turn it is. */
  next(): Waiting | undefined {
    for (const [lane, waiting] of this.#waiting) {
      const [one] = this.#take(lane, waiting, 1);
      return one;
    }
    return undefined;
  }

  /** Takes out those that have waited since before this time, the oldest of each lane first. */
  takeOlder(since: number, most: number): Waiting[] {
    const taken: Waiting[] = [];
    for (const [lane, waiting] of [...this.#waiting]) {
      const younger = waiting.findIndex((one) => one.since > since);
      const older = Math.min(younger < 0 ? waiting.length : younger, most - taken.length);
      if (older > 0) {
        taken.push(...this.#take(lane, waiting, older));
      }
    }
    return taken;
  }

  /** Moves the lane to the end, lest one with many requests keep its place before one with a single one. */
  #take(lane: string, waiting: Waiting[], count: number): Waiting[] {
    const taken = waiting.splice(0, count);
    this.#count -= taken.length;
    this.#waiting.delete(lane);
    if (waiting.length > 0) {
      this.#waiting.set(lane, waiting);
    }
    return taken;
  }
}
