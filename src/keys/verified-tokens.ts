/** A few megabytes at most. */
const CAPACITY = 10_000;

/** Tokens that were found in order a moment ago, by their digests; the longest unused ones go first. */
export class VerifiedTokens<T extends { expiresAt: Date }> {
  readonly #byDigest = new Map<string, T>();
  #generation = 0;

  /** Of the keys that those in here were verified with. */
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

  /** Unless the keys changed while it was verified: it may be of one that is gone. */
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
