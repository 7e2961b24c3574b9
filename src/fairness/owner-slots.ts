interface SlotLimits {
  perOwner?: number;
  inTotal?: number;
  /** Of the last slots, by default of all, an owner gets another only while it holds fewer than are free. */
  kept?: number;
  /** What owners hold besides. */
  held?: ReadonlyMap<string, number>;
}

/** Counts how many slots each owner holds, up to a limit, which its last `take` may exceed. */
export class OwnerSlots {
  readonly #held: Map<string, number>;
  readonly #perOwner: number;
  readonly #kept: number;
  #free: number;

  constructor({
    perOwner = Number.POSITIVE_INFINITY,
    inTotal = Number.POSITIVE_INFINITY,
    kept = inTotal,
    held,
  }: SlotLimits) {
    this.#held = new Map(held);
    this.#perOwner = perOwner;
    this.#kept = kept;
    this.#free = inTotal;
  }

  get free(): number {
    return this.#free;
  }

  heldBy(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  take(owner: string, slots = 1): boolean {
    const held = this.heldBy(owner);
    const most = this.#free > this.#kept ? Number.POSITIVE_INFINITY : this.#free;
    if (held >= Math.min(this.#perOwner, most)) {
      return false;
    }
    this.#hold(owner, slots);
    return true;
  }

  /** Passes a slot to another owner, even one that has all the slots it may take. */
  move(from: string, to: string): void {
    this.give(from);
    this.#hold(to, 1);
  }

  #hold(owner: string, slots: number): void {
    this.#held.set(owner, this.heldBy(owner) + slots);
    this.#free -= slots;
  }

  give(owner: string, slots = 1): void {
    const held = this.heldBy(owner) - slots;
    this.#free += slots;
    if (held > 0) {
      this.#held.set(owner, held);
    } else {
      this.#held.delete(owner);
    }
  }
}
