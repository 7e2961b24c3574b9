/** Enough that one list need not wait for the turn after its own. */
const PAGES_AT_ONCE = 2;
/** So long after a short call, the next one is expected. */
const EXPECTED_FOR_MS = 20;
/** Between two pages that can wait, meanwhile. Many times what a page takes, so that hardly any short call waits for one. */
const PAUSE_MS = 20;

type Begin = () => void;

/**
 * Lets a few pages of lists be made at once, the next ones in a later turn of the event loop, of the integrations in turn: what else waits to be answered comes in between,
 * and many lists of one integration do not keep the list of another waiting. Pages that can wait follow each other with pauses while short calls come: however many such lists
 * are read, and however quickly, they take little from what is short. The edge has as much work with a page as the domain, and is spared with it.
 */
export class PageTurns {
  readonly #prompt = new Lane(() => 0);
  readonly #patient = new Lane(() => this.#pauseMs());
  #shortCallAt = Number.NEGATIVE_INFINITY;
  #patientPageAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly now = () => performance.now()) {}

  /** One was answered just now, or a list of one page. */
  shortCall(): void {
    this.#shortCallAt = this.now();
  }

  make<T>(
    { integrationId, canWait }: { integrationId: string; canWait: boolean },
    page: () => Promise<T>,
  ): Promise<T> {
    return (canWait ? this.#patient : this.#prompt).make(integrationId, page);
  }

  #pauseMs(): number {
    const now = this.now();
    const isBusy = now < this.#shortCallAt + EXPECTED_FOR_MS;
    this.#patientPageAt = Math.max(now, this.#patientPageAt + (isBusy ? PAUSE_MS : 0));
    return this.#patientPageAt - now;
  }
}

/** Pages of which a few are made at once. */
class Lane {
  #free = PAGES_AT_ONCE;
  /** By integration; the one whose turn is next comes first. */
  readonly #waiting = new Map<string, Begin[]>();

  /** How long a page that waits for its turn is still to wait once it has it. */
  constructor(private readonly pauseMs: () => number) {}

  async make<T>(integrationId: string, page: () => Promise<T>): Promise<T> {
    if (this.#free > 0) {
      this.#free -= 1;
    } else {
      await new Promise<void>((begin) => {
        const waiting = this.#waiting.get(integrationId) ?? [];
        waiting.push(begin);
        this.#waiting.set(integrationId, waiting);
      });
    }
    try {
      return await page();
    } finally {
      setImmediate(() => this.#passOn());
    }
  }

  #passOn(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free += 1;
      return;
    }
    const [integrationId, waiting] = next;
    const begin = waiting.shift() as Begin;
    this.#waiting.delete(integrationId);
    if (waiting.length > 0) {
      this.#waiting.set(integrationId, waiting);
    }
    const pauseMs = this.pauseMs();
    if (pauseMs > 0) {
      setTimeout(begin, pauseMs);
    } else {
      begin();
    }
  }
}
