/** Bounds what the rounds of this worker have under way at once, so that one subscription's take neither all slots nor all rounds. */
export class SendSlots {
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(private readonly limits: { atOnce: number; atOncePerSubscription: number }) {}

  tryTake(subscriptionId: string): boolean {
    const taken = this.#taken.get(subscriptionId) ?? 0;
    if (this.#total >= this.limits.atOnce || taken >= this.limits.atOncePerSubscription) return false;
    this.#taken.set(subscriptionId, taken + 1);
    this.#total++;
    return true;
  }

  give(subscriptionId: string): void {
    const left = (this.#taken.get(subscriptionId) ?? 0) - 1;
    if (left > 0) this.#taken.set(subscriptionId, left);
    else this.#taken.delete(subscriptionId);
    this.#total--;
  }
}
