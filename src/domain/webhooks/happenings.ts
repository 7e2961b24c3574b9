import type { Delivery, DeliveryAttempt } from './deliveries.js';

/** A delivery was made, or an attempt at it ended. */
export interface Happening {
  at: number;
  deliverySeq: number;
  /** Null where the delivery was made. */
  attemptNumber: number | null;
}

/** Both ends belong to it. */
export interface Span {
  from: number;
  to: number;
}

/** Each list is in the order of time and then of deliveries, and goes on behind a happening. */
export interface HappeningRows {
  madeIn(span: Span, after: Happening | undefined, limit: number): Promise<Happening[]>;
  endedIn(span: Span, after: Happening | undefined, limit: number): Promise<Happening[]>;
  /** By their places in the order of all, as in the happenings. */
  findAll(seqs: readonly number[]): Promise<Map<number, Delivery>>;
  attemptsOfAll(seqs: readonly number[]): Promise<Map<number, DeliveryAttempt[]>>;
}

/** How much later than the time they carry rows may be committed. */
export const LATEST_COMMIT_MS = 2_000;

/** How much later most are; only now and then what is left of the time before is read again, which at full load is many thousands. */
const USUAL_COMMIT_MS = 100;
const LOOK_FOR_LATE_EVERY_MS = 1_000;

const PAGE = 500;

/** Reads what happened, from a time on, as it goes on: again and again, and nothing twice. */
export class Happenings {
  /** What may be read again, with its time. */
  readonly #seen = new Map<string, number>();
  #lookedForLateAt = Number.NEGATIVE_INFINITY;
  #readTo = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly rows: HappeningRows,
    /** Before this time nothing more comes. */
    private from: number,
  ) {}

  /** What happened up to now and was not read before, in the order of time, page by page. */
  async *upTo(now: number): AsyncGenerator<Happening[]> {
    const looksForLate = now - this.#lookedForLateAt >= LOOK_FOR_LATE_EVERY_MS;
    const span = {
      from: looksForLate ? this.from : Math.max(this.from, this.#readTo - USUAL_COMMIT_MS),
      to: now,
    };
    const readAgainFrom = looksForLate ? Math.max(this.from, now - LATEST_COMMIT_MS) : this.from;
    const made = new Lookahead((after) => this.rows.madeIn(span, after, PAGE));
    const ended = new Lookahead((after) => this.rows.endedIn(span, after, PAGE));
    for (let horizon = 0; horizon < Number.POSITIVE_INFINITY; ) {
      horizon = Math.min(await made.fill(), await ended.fill());
      const page = [...made.take(horizon), ...ended.take(horizon)];
      yield page.filter((one) => this.#isNew(one, readAgainFrom)).sort((a, b) => a.at - b.at);
      // SQLite takes no turns of its own.
      await new Promise(setImmediate);
    }
    this.#readTo = now;
    if (looksForLate) {
      this.#lookedForLateAt = now;
      this.#forgetBefore(readAgainFrom);
    }
  }

  #forgetBefore(readAgainFrom: number): void {
    this.from = readAgainFrom;
    for (const [key, at] of this.#seen) {
      if (at < readAgainFrom) {
        this.#seen.delete(key);
      }
    }
  }

  #isNew({ at, deliverySeq, attemptNumber }: Happening, readAgainFrom: number): boolean {
    // With the time, for a late success takes the place of how its attempt seemed to have ended.
    const key = `${deliverySeq} ${attemptNumber ?? ''} ${at}`;
    if (this.#seen.has(key)) {
      return false;
    }
    if (at >= readAgainFrom) {
      this.#seen.set(key, at);
    }
    return true;
  }
}

/** One of the two lists, of which as much is taken as the other one has reached too. */
class Lookahead {
  #rows: Happening[] = [];
  #last: Happening | undefined;
  #over = false;

  constructor(private readonly read: (after: Happening | undefined) => Promise<Happening[]>) {}

  /** Up to which time all is known now. */
  async fill(): Promise<number> {
    if (this.#rows.length === 0 && !this.#over) {
      this.#rows = await this.read(this.#last);
      this.#last = this.#rows.at(-1);
      this.#over = this.#rows.length < PAGE;
    }
    return this.#over ? Number.POSITIVE_INFINITY : (this.#last?.at ?? 0);
  }

  take(horizon: number): Happening[] {
    const beyond = this.#rows.findIndex(({ at }) => at > horizon);
    return this.#rows.splice(0, beyond < 0 ? this.#rows.length : beyond);
  }
}
