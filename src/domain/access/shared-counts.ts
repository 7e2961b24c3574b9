import type { Clock } from '../clock.js';

/** What a node adds to the count of a window. */
export interface Telling {
  subject: string;
  added: number;
  /** The age of the window on this node. Ages need no common clock. */
  ageMs: number;
  windowMs: number;
}

/** The window of all nodes, after the addition. */
export interface Told {
  subject: string;
  used: number;
  ageMs: number;
}

/** Counts of all nodes. They need not survive a crash of the database. */
export interface CountStore {
  /**
   * One statement outside of transactions. Adds to the present window of each subject, or begins one where
   * the last is over. Each subject occurs once.
   */
  add(tellings: readonly Telling[]): Promise<Told[]>;
  /** Removes windows that are over, up to a limit. */
  forgetOver(): Promise<void>;
}

/** A window whose count is exchanged. */
export interface SharedWindow {
  /** The exchange begins: what to add. Undefined if the window is over. */
  tell(): Telling | undefined;
  /** The exchange ended; undefined after a failure. */
  hear(told: Told | undefined): void;
  /** Decides on the waiting calls without the other nodes. */
  decideAlone(): void;
}

export interface CountsListener {
  onAway(reason: string): void;
  onBack(): void;
}

export interface ExchangeLimits {
  /** Calls wait for the exchange in progress and for their own, so at most twice this time. */
  lateMs: number;
  /** After a failure. */
  retryMs: number;
}

const LIMITS: ExchangeLimits = { lateMs: 250, retryMs: 1_000 };
/** Windows per statement. */
const MOST_AT_ONCE = 500;
const FORGET_EVERY_MS = 60_000;

/**
 * Exchanges counts with the other nodes over the database: one exchange at a time, with all windows that ask
 * for one. While the database is late or away, each node decides alone.
 */
export class SharedCounts {
  readonly #limits: ExchangeLimits;
  readonly #queue = new Set<SharedWindow>();
  #underWay: SharedWindow[] = [];
  #isRunning = false;
  #isAway = false;
  #failedAt = Number.NEGATIVE_INFINITY;
  #forgotAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly store: CountStore,
    private readonly clock: Clock,
    private readonly listener: CountsListener,
    limits: Partial<ExchangeLimits> = {},
  ) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Whether calls are decided without waiting for the other nodes. */
  get isAway(): boolean {
    return this.#isAway;
  }

  exchangeSoon(window: SharedWindow): void {
    if (!this.#isRunning && Math.abs(this.clock() - this.#failedAt) < this.#limits.retryMs) {
      return;
    }
    this.#queue.add(window);
    if (!this.#isRunning) {
      this.#isRunning = true;
      void this.#run();
    }
  }

  async #run(): Promise<void> {
    while (this.#queue.size > 0) {
      // Calls of the same turn of the event loop share a statement.
      await nextTurn();
      await this.#exchange();
    }
    this.#isRunning = false;
  }

  async #exchange(): Promise<void> {
    const tellings = this.#nextTellings();
    if (tellings.length === 0) {
      return;
    }
    this.#underWay = tellings.map(({ window }) => window);
    const endWatch = this.#watchForLateness();
    try {
      const told = await this.store.add(tellings.map(({ telling }) => telling));
      endWatch();
      this.#comeBack();
      const bySubject = new Map(told.map((one) => [one.subject, one]));
      for (const { window, telling } of tellings) {
        window.hear(bySubject.get(telling.subject));
      }
    } catch (error) {
      endWatch();
      this.#failedAt = this.clock();
      this.#goAway((error as Error).message);
      for (const { window } of tellings) {
        window.hear(undefined);
      }
      // Windows with further calls ask again.
      this.#queue.clear();
      return;
    } finally {
      this.#underWay = [];
    }
    this.#forgetOver();
  }

  #nextTellings(): { window: SharedWindow; telling: Telling }[] {
    return [...this.#queue].slice(0, MOST_AT_ONCE).flatMap((window) => {
      this.#queue.delete(window);
      const telling = window.tell();
      return telling ? [{ window, telling }] : [];
    });
  }

  #watchForLateness(): () => void {
    let isOver = false;
    const { lateMs } = this.#limits;
    const timer = setTimeout(async () => {
      // After a stall of this process the answer may be here already: it is read first.
      await nextTurn();
      if (!isOver) {
        this.#goAway(`no answer within ${lateMs} ms`);
      }
    }, lateMs).unref();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }

  #goAway(reason: string): void {
    if (!this.#isAway) {
      this.#isAway = true;
      this.listener.onAway(reason);
    }
    for (const window of [...this.#underWay, ...this.#queue]) {
      window.decideAlone();
    }
  }

  #comeBack(): void {
    if (this.#isAway) {
      this.#isAway = false;
      this.listener.onBack();
    }
  }

  #forgetOver(): void {
    const now = this.clock();
    if (Math.abs(now - this.#forgotAt) >= FORGET_EVERY_MS) {
      this.#forgotAt = now;
      // After a failure, another node or the next minute does it.
      this.store.forgetOver().catch(() => undefined);
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
