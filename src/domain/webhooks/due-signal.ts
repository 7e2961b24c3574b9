/** Tells those who wait for deliveries to send that there are new ones. Each waking wakes one of them: what one takes the others need not look for. */
export class DueSignal {
  readonly #waiting = new Set<() => void>();
  readonly #closing = new AbortController();
  #count = 0;

  /** Aborted when nothing more is handed out, so that whoever waits for anything here goes home. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** How often somebody was woken: asked for before a look, so that what happens during the look is not missed. */
  get count(): number {
    return this.#count;
  }

  /** When a write would find what is due; on SQLite its commit is still to come. */
  wake(): void {
    this.#count += 1;
    const [first] = this.#waiting;
    first?.();
  }

  /** Until there is news since `count`, the time is over, the caller has gone or no more is handed out. */
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
