import type { Database, StoreWatch } from './database.js';
import { databaseReasonOf, NO_QUOTA } from './store-error.js';

export interface RefusalListener {
  /** The first refusal after writes succeeded. */
  onRefused(reason: string): void;
  /** The disk accepts writes again, after it refused this number of writes. */
  onTaken(refused: number): void;
}

/** Error codes of SQLite, the system and PostgreSQL for a full, read-only or failing disk. */
const REFUSING = new RegExp(
  `^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY)|(E(IO|NOSPC|FBIG|ROFS)|${NO_QUOTA}|53100|25006)$|58)`,
);
/** On a full disk some writes still succeed, so one successful write does not end the state. */
const REMEMBERED_MS = 10_000;

/** Measures writes, and remembers those that the disk refused, for the readiness check. */
export class WriteRefusals {
  #refusedAt = Number.NEGATIVE_INFINITY;
  #refused = 0;
  #reason = '';

  constructor(
    private readonly listener?: RefusalListener,
    private readonly watch?: Pick<StoreWatch, 'refused' | 'wrote'>,
    private readonly clock = () => performance.now(),
  ) {}

  watched(database: Database): Database {
    return {
      ...database,
      write: async (...given) => {
        const begunAt = this.clock();
        let outcome: 'committed' | 'undone' = 'undone';
        try {
          const answer = await database.write(...given);
          outcome = 'committed';
          this.#passed();
          return answer;
        } catch (error) {
          this.#failed(error);
          throw error;
        } finally {
          this.watch?.wrote(outcome, this.clock() - begunAt);
        }
      },
    };
  }

  /** Throws while the last refusal is recent. Call it after a successful write. */
  assertNone(): void {
    this.#passed();
    if (this.#refused > 0) {
      throw new Error(`Writes were refused recently (${this.#refused}), for example: ${this.#reason}`);
    }
  }

  #passed(): void {
    if (this.#refused > 0 && this.clock() - this.#refusedAt >= REMEMBERED_MS) {
      this.listener?.onTaken(this.#refused);
      this.#refused = 0;
    }
  }

  #failed(error: unknown): void {
    const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
    if (!REFUSING.test(String(cause?.code ?? code))) {
      return;
    }
    this.#refusedAt = this.clock();
    this.#reason = databaseReasonOf(error);
    this.#refused += 1;
    this.watch?.refused();
    if (this.#refused === 1) {
      this.listener?.onRefused(this.#reason);
    }
  }
}
