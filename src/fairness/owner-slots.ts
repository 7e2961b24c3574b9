interface SlotLimits {
  perOwner?: number;
  /** An owner gets another slot only while it holds fewer than are free. */
  inTotal?: number;
}

/** Counts how many slots each owner holds, up to a limit. */
export class OwnerSlots {
  readonly #held = new Map<string, number>();
  readonly #perOwner: number;
  #free: number;

  constructor({ perOwner = Number.POSITIVE_INFINITY, inTotal = Number.POSITIVE_INFINITY }: SlotLimits) {
    this.#perOwner = perOwner;
    this.#free = inTotal;
  }

  heldBy(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  take(owner: string): boolean {
    const held = this.heldBy(owner);
    if (held >= Math.min(this.#perOwner, this.#free)) {
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
