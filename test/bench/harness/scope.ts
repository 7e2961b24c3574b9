type End = () => Promise<void> | void;

/** Holds what was started, and ends all of it, last first. */
export class Scope {
  readonly #ends: End[] = [];
  #over = false;

  /** What is still started after the end, by work that was interrupted, is ended at once. */
  onEnd(end: End): void {
    if (this.#over) {
      void end();
    } else {
      this.#ends.push(end);
    }
  }

  /** A scope for a part of the work, which ends with that part, or with this one. */
  async within<T>(work: (inner: Scope) => Promise<T>): Promise<T> {
    const inner = new Scope();
    this.onEnd(() => inner.end());
    try {
      return await work(inner);
    } finally {
      await inner.end();
    }
  }

  /** What cannot be ended keeps nothing else from ending. */
  async end(): Promise<void> {
    this.#over = true;
    const failures: unknown[] = [];
    for (let end = this.#ends.pop(); end; end = this.#ends.pop()) {
      try {
        await end();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) {
      throw new AggregateError(failures, `Not everything could be ended: ${failures.join('; ')}`);
    }
  }
}
