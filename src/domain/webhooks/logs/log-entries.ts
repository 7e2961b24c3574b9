import { inPieces } from '../../../fairness/pieces.js';
import type { Delivery, DeliveryAttempt } from '../deliveries.js';

/** A delivery that was made, or an attempt that ended. */
export interface LogEntry {
  at: number;
  deliverySeq: number;
  /** 0 for a delivery. */
  attemptNumber: number;
}

/** Inclusive. */
interface Span {
  from: number;
  to: number;
}

export interface LogEntryRows {
  /** In the order of time, delivery and attempt, behind an entry. */
  happenedIn(span: Span, after: LogEntry | undefined, limit: number): Promise<LogEntry[]>;
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
    const read = (limit: number, last?: LogEntry) => this.rows.happenedIn(span, last, limit);
    for await (const page of inPieces(PAGE, read)) {
      yield page.filter((one) => this.#isNew(one, readAgainFrom));
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
    const key = `${deliverySeq} ${attemptNumber} ${at}`;
    if (this.#seen.has(key)) {
      return false;
    }
    if (at >= readAgainFrom) {
      this.#seen.set(key, at);
    }
    return true;
  }
}
