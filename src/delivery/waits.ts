/** While the domain does not answer. */
export const BACKOFF = { firstDelayMs: 50, maxDelayMs: 1_000 };

/** Attempts that this worker has begun and that are not recorded: what a crash leaves in doubt. */
export class Slots {
  #free: number;
  #wake: (() => void) | undefined;

  constructor(readonly total: number) {
    this.#free = total;
  }

  get free(): number {
    return this.#free;
  }

  take(count: number): void {
    this.#free -= count;
  }

  give(count: number): void {
    this.#free += count;
    this.#wake?.();
  }

  /** Resolves when so many are free, or when stopped. */
  async untilFree(count: number, stop: AbortSignal): Promise<void> {
    const wakened = () =>
      new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    const wake = () => this.#wake?.();
    stop.addEventListener('abort', wake, { once: true });
    while (this.#free < count && !stop.aborted) {
      await wakened();
    }
    stop.removeEventListener('abort', wake);
    this.#wake = undefined;
  }
}
