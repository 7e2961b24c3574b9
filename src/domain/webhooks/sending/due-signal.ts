/** Wakes one waiting claim per new delivery, so that the others need not look. */
export class DueSignal {
  readonly #waiting = new Set<() => void>();
  readonly #closing = new AbortController();
  #count = 0;

  /** Aborted when the domain stops, which ends all waits. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Counts wakes: read it before a look, so that none during the look is missed. */
  get count(): number {
    return this.#count;
  }

  /** Called when a write would see the due delivery; on SQLite its commit is still to come. */
  wake(): void {
    this.#count += 1;
    const [first] = this.#waiting;
    first?.();
  }

  /** Resolves on a wake since `count`, at the time limit, or when the caller or the domain ends. */
  async news(count: number, timeoutMs: number, caller: AbortSignal): Promise<void> {
    if (count !== this.#count || caller.aborted || this.closing.aborted || timeoutMs <= 0) {
      return;
    }
    await new Promise<void>((resolve) => {
      const end = () => {
        this.#waiting.delete(end);
        clearTimeout(timer);
        caller.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, timeoutMs);
      caller.addEventListener('abort', end);
      this.#waiting.add(end);
    });
  }

  close(): void {
    this.#closing.abort();
    for (const end of [...this.#waiting]) {
      end();
    }
  }
}
