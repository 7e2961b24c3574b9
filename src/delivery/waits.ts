import { setTimeout as sleep } from 'node:timers/promises';

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

const FIRST_MS = 50;
const LONGEST_MS = 1_000;

/** Resolves when the time is over or `stop` is aborted, whichever comes first. */
export async function pause(delayMs: number, stop: AbortSignal): Promise<void> {
  await sleep(delayMs, undefined, { signal: stop }).catch(() => undefined);
}

/** The pause after this many failures in a row; partly random, so that workers do not return together. */
export function pauseMsAfter(failures: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10)) * (0.5 + Math.random() / 2);
}
