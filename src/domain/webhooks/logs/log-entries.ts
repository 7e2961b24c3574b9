import type { Delivery, DeliveryAttempt } from '../deliveries.js';

/** A delivery that was made, or an attempt that ended. */
export interface LogEntry {
  at: number;
  deliverySeq: number;
  /** Null for a delivery. */
  attemptNumber: number | null;
}

/** Inclusive. */
interface Span {
  from: number;
  to: number;
}

/** Both lists are ordered by time and delivery, and continue after an entry. */
export interface LogEntryRows {
  madeIn(span: Span, after: LogEntry | undefined, limit: number): Promise<LogEntry[]>;
  endedIn(span: Span, after: LogEntry | undefined, limit: number): Promise<LogEntry[]>;
  /** By their places in the log. */
  findAll(seqs: readonly number[]): Promise<Map<number, Delivery>>;
  attemptsOfAll(seqs: readonly number[]): Promise<Map<number, DeliveryAttempt[]>>;
}

/** How late rows may be committed after the time they carry. */
export const LATEST_COMMIT_MS = 2_000;

/**
 * Most rows are committed within this time. Older ones are read again less often: at full load they are many.
 */
const USUAL_COMMIT_MS = 100;
const LOOK_FOR_LATE_EVERY_MS = 1_000;

const PAGE = 500;

/** Reads log entries continuously from a time on, each once. */
export class NewLogEntries {
  /** Log entries that may be read again, with their times. */
  readonly #seen = new Map<string, number>();
  #lookedForLateAt = Number.NEGATIVE_INFINITY;
  #readTo = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly rows: LogEntryRows,
    /** No entry with an earlier time will be committed any more. */
    private from: number,
  ) {}

  /** New entries up to now, in the order of time, page by page. */
  async *upTo(now: number): AsyncGenerator<LogEntry[]> {
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
      // SQLite reads block the event loop: other work gets its turn here.
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

  #isNew({ at, deliverySeq, attemptNumber }: LogEntry, readAgainFrom: number): boolean {
    // With the time, because a late success replaces the recorded end.
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

/** Reads one of the two lists ahead, but not beyond the time up to which the other was read. */
class Lookahead {
  #rows: LogEntry[] = [];
  #last: LogEntry | undefined;
  #over = false;

  constructor(private readonly read: (after: LogEntry | undefined) => Promise<LogEntry[]>) {}

  /** The time up to which all is known. */
  async fill(): Promise<number> {
    if (this.#rows.length === 0 && !this.#over) {
      this.#rows = await this.read(this.#last);
      this.#last = this.#rows.at(-1);
      this.#over = this.#rows.length < PAGE;
    }
    return this.#over ? Number.POSITIVE_INFINITY : (this.#last?.at ?? 0);
  }

  take(horizon: number): LogEntry[] {
    const beyond = this.#rows.findIndex(({ at }) => at > horizon);
    return this.#rows.splice(0, beyond < 0 ? this.#rows.length : beyond);
  }
}
