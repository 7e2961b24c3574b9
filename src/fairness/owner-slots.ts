/** A limited number of slots. An owner gets another only while it holds fewer than are free. */
export class FairSlots {
  readonly #held = new Map<string, number>();
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
  }

  heldBy(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  take(owner: string): boolean {
    const held = this.heldBy(owner);
    if (held >= this.#free) {
      return false;
    }
    this.#held.set(owner, held + 1);
    this.#free -= 1;
    return true;
  }

  give(owner: string): void {
    const held = this.heldBy(owner) - 1;
    this.#free += 1;
    if (held > 0) {
      this.#held.set(owner, held);
    } else {
      this.#held.delete(owner);
    }
  }
}
