/** Also the time for which a handed-over batch counts as a sign of a worker. */
const LONGEST_GRACE_MS = 60_000;
/** The grace in retry delays, where these are short. */
const GRACE_DELAYS = 20;

/**
 * How long after the due time the relay waits for a workflow to make a delivery due; 0 without a worker that
 * hands batches over to Temporal, as far as this node knows.
 */
export class RetryGrace {
  readonly #graceMs: number;
  #seenAt = Number.NEGATIVE_INFINITY;
  /** Batches were given to a worker that has not marked them since. */
  #isOwed = false;

  constructor(retryDelaysMs: readonly number[]) {
    this.#graceMs = Math.min(LONGEST_GRACE_MS, GRACE_DELAYS * Math.max(...retryDelaysMs));
  }

  at(now: number): number {
    return Math.abs(now - this.#seenAt) < LONGEST_GRACE_MS ? this.#graceMs : 0;
  }

  batchesAsked(now: number): void {
    if (!this.#isOwed) {
      this.#seenAt = now;
    }
  }

  batchesGiven(): void {
    this.#isOwed = true;
  }

  batchesMarked(now: number): void {
    this.#isOwed = false;
    this.#seenAt = now;
  }
}
