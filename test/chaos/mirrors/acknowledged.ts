/** Counts the writes that were done, and tells when there are so many more. */
export class Acknowledged {
  count = 0;
  isOver = false;
  readonly #waiting = new Set<{ from: number; go: () => void }>();

  add(): void {
    this.count += 1;
    this.#goOn();
  }

  /** No more will come, and no caller has to wait for them. */
  end(): void {
    this.isOver = true;
    this.#goOn();
  }

  untilMore(writes: number): Promise<void> {
    return new Promise((go) => {
      this.#waiting.add({ from: this.count + writes, go });
      this.#goOn();
    });
  }

  #goOn(): void {
    for (const waiting of this.#waiting) {
      if (this.isOver || this.count >= waiting.from) {
        this.#waiting.delete(waiting);
        waiting.go();
      }
    }
  }
}
