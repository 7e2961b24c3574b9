import { AtOnce } from '../../fairness/at-once.js';

/** Two, so that the next page of a lone list need not wait for the next turn of the event loop. */
const PAGES_AT_ONCE = 2;
/** For this long after a short call, another one is expected. */
const EXPECTED_FOR_MS = 20;
/** Between two deferrable pages: many times as long as a page takes, so that short calls rarely wait. */
const PAUSE_MS = 20;

/**
 * Makes at most a few pages of lists per turn of the event loop, so that other calls run in between.
 * Integrations take turns. While short calls come, deferrable pages (`canWait`) are made with pauses, which
 * leaves domain and edge time for the short calls.
 */
export class PageTurns {
  readonly #prompt = new AtOnce(PAGES_AT_ONCE);
  readonly #patient = new AtOnce(PAGES_AT_ONCE, { pauseMs: () => this.#pauseMs() });
  #shortCallAt = Number.NEGATIVE_INFINITY;
  #patientPageAt = Number.NEGATIVE_INFINITY;

  /** Call it after each short call, and after each list of one page. */
  shortCall(): void {
    this.#shortCallAt = performance.now();
  }

  /** After a page that `isSmall`, the next one begins in the same turn of the event loop. */
  make<T>(
    { integrationId, canWait }: { integrationId: string; canWait: boolean },
    page: () => Promise<T>,
    isSmall: (page: T) => boolean = () => false,
  ): Promise<T> {
    const queue = canWait ? this.#patient : this.#prompt;
    return queue.run(integrationId, page, (made) => !isSmall(made));
  }

  #pauseMs(): number {
    const now = performance.now();
    const isBusy = now < this.#shortCallAt + EXPECTED_FOR_MS;
    this.#patientPageAt = Math.max(now, this.#patientPageAt + (isBusy ? PAUSE_MS : 0));
    return this.#patientPageAt - now;
  }
}
