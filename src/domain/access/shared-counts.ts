import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.js';

/** The calls that a node adds to the count of a window. */
export interface Addition {
  subject: string;
  added: number;
  /** The age of the window on this node. Ages need no common clock. */
  ageMs: number;
  windowMs: number;
}

/** The window of all nodes, after the addition. */
export interface Total {
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
  add(additions: readonly Addition[]): Promise<Total[]>;
  /** Removes windows that have been over for as long as they lasted, up to a limit. */
  forgetOver(): Promise<void>;
}

/** A window whose count is exchanged. */
export interface SharedWindow {
  /** Returns what to add. Undefined if the window is over: then nothing is exchanged. */
  beginExchange(): Addition | undefined;
  /** Undefined after a failure. */
  endExchange(total: Total | undefined): void;
  /** Decides on the waiting calls without the other nodes. */
  decideAlone(): void;
}

export interface CountsListener {
  onAway(reason: string): void;
  onBack(): void;
}

/**
 * A call waits for the exchange in progress and for its own, at most twice this time. If its window ends
 * meanwhile, it waits for a third.
 */
const LATE_MS = 250;
/** After a failure. */
const RETRY_MS = 1_000;
/** Windows per statement. */
const MOST_AT_ONCE = 500;
const FORGET_EVERY_MS = 60_000;

/**
 * Exchanges counts with the other nodes over the database: one exchange at a time, with all windows that ask
 * for one. While the database is late or away, each node decides alone.
 */
export class SharedCounts {
  readonly #queue = new Set<SharedWindow>();
  #underWay: { window: SharedWindow; addition: Addition }[] = [];
  #isRunning = false;
  #isAway = false;
  #failedAt = Number.NEGATIVE_INFINITY;
  #forgotAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly store: CountStore,
    private readonly clock: Clock,
    private readonly listener: CountsListener,
    private readonly lateMs = LATE_MS,
  ) {}

  /** Whether calls are decided without waiting for the other nodes. */
  get isAway(): boolean {
    return this.#isAway;
  }

  exchangeSoon(window: SharedWindow): void {
    if (!this.#isRunning && this.#isAway && Math.abs(this.clock() - this.#failedAt) < RETRY_MS) {
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
    const exchanged = [...this.#queue].slice(0, MOST_AT_ONCE).flatMap((window) => {
      this.#queue.delete(window);
      const addition = window.beginExchange();
      return addition ? [{ window, addition }] : [];
    });
    if (exchanged.length === 0) {
      return;
    }
    this.#underWay = exchanged;
    const totals = new Map<string, Total>();
    const endWatch = this.#watchForLateness();
    try {
      for (const total of await this.store.add(exchanged.map(({ addition }) => addition))) {
        totals.set(total.subject, total);
      }
      this.#comeBack();
      this.#forgetOver();
    } catch (error) {
      this.#failedAt = this.clock();
      this.#goAway((error as Error).message);
      // Windows with further calls ask again.
      this.#queue.clear();
    } finally {
      endWatch();
      this.#underWay = [];
    }
    for (const { window, addition } of exchanged) {
      window.endExchange(totals.get(addition.subject));
    }
  }

  #watchForLateness(): () => void {
    let isOver = false;
    const timer = setTimeout(async () => {
      // After a stall of this process the answer may be here already: it is read first.
      await nextTurn();
      if (!isOver) {
        this.#goAway(`no answer within ${this.lateMs} ms`);
      }
    }, this.lateMs).unref();
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
    for (const window of [...this.#underWay.map(({ window }) => window), ...this.#queue]) {
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
