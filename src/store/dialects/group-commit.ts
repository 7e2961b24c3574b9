import type { WriteOrigin } from '../../domain/unit-of-work.js';
import type { Writer } from '../database.js';
import { refuseWaiting } from './direct-statements.js';
import { FairQueue } from './fair-queue.js';
import { keepLateRows, type LateRows } from './late-rows.js';
import { callerLeft } from './turns.js';
import { asUnknownOutcome } from './unavailable.js';

const MAX_GROUP = 128;
/**
 * A group ends after this much work, so that no write waits for many slow writes of others. It is many times
 * as long as a small write takes, so small writes share commits on a busy machine too.
 */
const MAX_GROUP_MS = 50;

interface Job {
  work: (writer: Writer) => Promise<unknown>;
  onDone: (() => void) | undefined;
  signal: AbortSignal | undefined;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

/** Answers the caller of a write, after the commit that it shares. */
type Answer = () => void;

/** Writes that share a commit. */
class Group {
  readonly jobs: Job[] = [];
  /** How many writes that wait it may still take. All are rejected if the group fails. */
  places = 0;
  /** Without the time between them, in which other calls have their turns. */
  workedMs = 0;

  open(waiting: number): void {
    this.places = Math.min(MAX_GROUP - this.jobs.length, waiting);
  }
}

interface Committed {
  answers: readonly Answer[];
  /** To be called before the next group writes late rows. */
  noteLate: () => void;
}

/** The statements around a group of transactions. They are synchronous, but for a wait before the first. */
export interface TransactionControl {
  /** Waits for another writer. */
  begin(): void | Promise<void>;
  commit(): void;
  rollback(): void;
  savepoint(): void;
  release(): void;
  rollbackToSavepoint(): void;
  /** False after SQLite itself has ended the transaction, for example on a full disk. */
  isOpen(): boolean;
}

export interface Disk {
  /** Throws after a failed sync, before anything is written. */
  assertSound(): void;
  /** Resolves when all commits would survive a power failure. */
  done(): Promise<void>;
}

/**
 * Lets concurrent writes share a commit, the costly part. A failure undoes only its own write; late rows of
 * all are written before the commit, and all are acknowledged after the sync.
 */
export class GroupCommit {
  readonly #waiting = new FairQueue<Job>();
  #running: Promise<void> | undefined;
  #unacknowledged = 0;
  /** Whether the present transaction contains no write yet. */
  #isEmpty = true;
  readonly #late: LateRows;

  constructor(
    private readonly writer: Writer,
    private readonly control: TransactionControl,
    private readonly disk: Disk,
    private readonly onCommit: (writes: number) => void = () => undefined,
    private readonly now = () => performance.now(),
  ) {
    this.#late = keepLateRows(writer);
  }

  run<T>(
    work: (writer: Writer) => Promise<T>,
    onDone?: () => void,
    { signal, lane }: WriteOrigin = {},
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push(
        { work, onDone, signal, resolve: resolve as (value: unknown) => void, reject },
        lane,
      );
      this.#running ??= this.#drain();
    });
  }

  /** Waits until the queue is empty, including writes that follow acknowledged ones. */
  async idle(): Promise<void> {
    while (this.#running || this.#unacknowledged > 0) {
      await this.#running;
      await new Promise(setImmediate);
    }
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = new Group();
      group.open(this.#waiting.length);
      try {
        const committed = await this.#commit(group);
        void this.#acknowledge(group.jobs, committed);
      } catch (error) {
        // The commit failed or was not tried: nothing of the group was written.
        rejectAll(group.jobs, error);
        this.#rejectWaiting(group.places, error);
      }
    }
    this.#running = undefined;
  }

  /**
   * The next group does not wait for the sync; the callers of this one do. A failure here undoes no write.
   */
  async #acknowledge(group: readonly Job[], { answers, noteLate }: Committed): Promise<void> {
    this.#unacknowledged += 1;
    try {
      noteLate();
      this.onCommit(group.length);
      await this.disk.done();
      for (const answer of answers) {
        answer();
      }
    } catch (error) {
      rejectAll(group, asUnknownOutcome(error));
    } finally {
      this.#unacknowledged -= 1;
    }
  }

  async #commit(group: Group): Promise<Committed> {
    this.disk.assertSound();
    await this.#begin();
    try {
      const answers = await this.#runWaiting(group);
      // SQLite blocks the event loop: here concurrent requests join the group, and answers are sent.
      await new Promise(setImmediate);
      group.open(this.#waiting.length);
      answers.push(...(await this.#runWaiting(group)));
      const noteLate = await this.#late.write(this.writer);
      this.control.commit();
      return { answers, noteLate };
    } catch (error) {
      this.#late.dropAfter(0);
      this.#tryRollback();
      throw error;
    }
  }

  /** Runs the writes that the group has places for, one by one, until they have taken their time. */
  async #runWaiting(group: Group): Promise<Answer[]> {
    const answers: Answer[] = [];
    while (group.places > 0 && group.workedMs < MAX_GROUP_MS) {
      group.places -= 1;
      const job = this.#waiting.next() as Job;
      group.jobs.push(job);
      const begunAt = this.now();
      answers.push(await this.#runAlone(job));
      const workedMs = this.now() - begunAt;
      group.workedMs += workedMs;
      this.#waiting.took(workedMs);
    }
    group.places = 0;
    return answers;
  }

  #rejectWaiting(count: number, error: unknown): void {
    for (let left = count; left > 0; left -= 1) {
      this.#waiting.next()?.reject(error);
    }
  }

  async #begin(): Promise<void> {
    try {
      await this.control.begin();
      this.#isEmpty = true;
    } catch (error) {
      // Ends what a failed rollback may have left open; otherwise no write would ever succeed again.
      this.#tryRollback();
      throw error;
    }
  }

  /**
   * Runs in a savepoint, except the first write: in a savepoint, each statement that SQLite may have to undo
   * takes longer the more pages the write has changed.
   */
  async #runAlone(job: Job): Promise<Answer> {
    if (job.signal?.aborted) {
      return () => job.reject(callerLeft());
    }
    const late = this.#late.count;
    const isFirst = this.#isEmpty;
    if (!isFirst) {
      this.control.savepoint();
    }
    let value: unknown;
    try {
      value = await job.work(this.writer);
      if (!isFirst) {
        this.control.release();
      } else if (!this.control.isOpen()) {
        throw new Error('SQLite has ended the transaction, and the write went on.');
      }
      this.#isEmpty = false;
    } catch (error) {
      refuseWaiting(this.writer);
      this.#late.dropAfter(late);
      await this.#undo(isFirst, error);
      return () => job.reject(error);
    }
    job.onDone?.();
    return () => job.resolve(value);
  }

  async #undo(isFirst: boolean, cause: unknown): Promise<void> {
    const { control } = this;
    try {
      if (isFirst) {
        control.rollback();
      } else {
        control.rollbackToSavepoint();
        control.release();
      }
    } catch {
      // SQLite has ended the transaction, for example on a full disk: the group fails with this error.
      throw cause;
    }
    if (isFirst) {
      await this.#begin();
    }
  }

  /** Fails if SQLite has already ended the transaction. */
  #tryRollback(): void {
    try {
      this.control.rollback();
    } catch {
      // There was nothing to undo.
    }
  }
}

function rejectAll(group: readonly Job[], error: unknown): void {
  for (const job of group) {
    job.reject(error);
  }
}
