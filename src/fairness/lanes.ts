/** Queues that take turns, one for each tenant or network. */
export class Lanes<Waiting> {
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

  /** How many wait in this lane. */
  waitingIn(lane: string): number {
    return this.#waiting.get(lane)?.length ?? 0;
  }

  /** Removes the first piece of the next lane that `may` allows. This lane then comes after all others. */
  next(may = (_lane: string) => true): Waiting | undefined {
    for (const [lane, waiting] of this.#waiting) {
      if (waiting.length > 0 && !may(lane)) {
        continue;
      }
      this.#waiting.delete(lane);
      const one = waiting.shift();
      if (waiting.length > 0) {
        this.#waiting.set(lane, waiting);
      }
      if (one) {
        this.#count -= 1;
        return one;
      }
    }
    return undefined;
  }

  /**
   * Takes out the newest of the longest lane (the last of equals), if at least so many wait there. Those that
   * `may` refuses stay.
   */
  takeNewest(least: number, may = (_one: Waiting) => true): Waiting | undefined {
    let longest: Waiting[] = [];
    for (const waiting of this.#waiting.values()) {
      longest = waiting.length >= longest.length && waiting.some(may) ? waiting : longest;
    }
    if (longest.length === 0 || longest.length < least) {
      return undefined;
    }
    this.#count -= 1;
    return longest.splice(longest.findLastIndex(may), 1)[0];
  }

  /**
   * Takes out those at the head of each lane that fulfil the condition. The lane keeps its place, also when
   * it is empty: it had no turn.
   */
  takeHeads(mayTake: (one: Waiting) => boolean, most: number): Waiting[] {
    const taken: Waiting[] = [];
    for (const waiting of this.#waiting.values()) {
      if (taken.length >= most) {
        break;
      }
      const first = waiting.findIndex((one) => !mayTake(one));
      const heads = first < 0 ? waiting.length : first;
      taken.push(...waiting.splice(0, Math.min(heads, most - taken.length)));
    }
    this.#count -= taken.length;
    return taken;
  }
}
