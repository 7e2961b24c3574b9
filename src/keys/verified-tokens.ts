/** A few megabytes at most. */
const CAPACITY = 10_000;

/** Recently verified tokens by digest; the least recently used go first. */
export class VerifiedTokens<T extends { expiresAt: Date }> {
  readonly #byDigest = new Map<string, T>();
  #generation = 0;

  /** Counts the changes of the keys. */
  get generation(): number {
    return this.#generation;
  }

  find(digest: string, now: number): T | undefined {
    const found = this.#byDigest.get(digest);
    if (found === undefined) {
      return undefined;
    }
    this.#byDigest.delete(digest);
    if (found.expiresAt.getTime() <= now) {
      return undefined;
    }
    this.#byDigest.set(digest, found);
    return found;
  }

  /** Skips a token that was verified before the keys changed: its key may be gone. */
  add(digest: string, token: T, generation: number): void {
    if (generation !== this.#generation) {
      return;
    }
    this.#byDigest.set(digest, token);
    if (this.#byDigest.size > CAPACITY) {
      const [oldest] = this.#byDigest.keys();
      this.#byDigest.delete(oldest as string);
    }
  }

  clear(): void {
    this.#generation += 1;
    this.#byDigest.clear();
  }
}
