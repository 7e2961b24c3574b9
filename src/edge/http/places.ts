/** A limited number of places. An owner gets another only while it holds fewer than are free. */
export class Places {
  readonly #held = new Map<string, number>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  take(owner: string): boolean {
    const held = this.#held.get(owner) ?? 0;
    if (held >= this.#free) {
      return false;
    }
    this.#held.set(owner, held + 1);
    this.#free -= 1;
    return true;
  }

  giveBack(owner: string): void {
    const held = (this.#held.get(owner) ?? 0) - 1;
    this.#free += 1;
    if (held > 0) {
      this.#held.set(owner, held);
    } else {
      this.#held.delete(owner);
    }
  }
}
