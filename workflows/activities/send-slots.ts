interface Waiter {
  subscriptionId: string;
  end(isFree: boolean): void;
}

/** A receiver that is well gives a slot back in that time. */
const mostWaitMs = 2_000;
/** A round that waits is one that cannot work for others. */
const waitersPerSubscription = 8;

/** Bounds what the rounds of this worker have under way at once, so that one subscription's take neither all slots nor all rounds. */
export class SendSlots {
  readonly #taken = new Map<string, number>();
  readonly #waiters = new Set<Waiter>();
  #total = 0;

  constructor(
    private readonly limits: { atOnce: number; atOncePerSubscription: number },
    private readonly waitMs = mostWaitMs,
  ) {}

  tryTake(subscriptionId: string): boolean {
    const taken = this.#taken.get(subscriptionId) ?? 0;
    if (this.#total >= this.limits.atOnce || taken >= this.limits.atOncePerSubscription) return false;
    this.#taken.set(subscriptionId, taken + 1);
    this.#total++;
    return true;
  }

  /** Waits its turn, but not for long, nor behind many. */
  async take(subscriptionId: string): Promise<boolean> {
    if (this.tryTake(subscriptionId)) return true;
    const ahead = [...this.#waiters].filter((waiter) => waiter.subscriptionId === subscriptionId);
    if (ahead.length >= waitersPerSubscription) return false;
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiter.end(false), this.waitMs);
      const waiter: Waiter = {
        subscriptionId,
        end: (isFree) => {
          clearTimeout(timer);
          this.#waiters.delete(waiter);
          resolve(isFree);
        },
      };
      this.#waiters.add(waiter);
    });
  }

  /** Whoever has waited longest gets it, if it is one that they can use. */
  give(subscriptionId: string): void {
    const left = (this.#taken.get(subscriptionId) ?? 0) - 1;
    if (left > 0) this.#taken.set(subscriptionId, left);
    else this.#taken.delete(subscriptionId);
    this.#total--;
    for (const waiter of this.#waiters) {
      if (this.tryTake(waiter.subscriptionId)) {
        waiter.end(true);
        break;
      }
    }
  }
}
