import { ErrorCode, ServiceError } from '../errors/service-error.js';
import { Lanes } from '../fairness/lanes.js';
import type { PasswordAnswer, PasswordJob } from './password-thread.js';

/** Takes one job at a time. */
interface Thread {
  /** Rejects when the thread ends before it answers. */
  do(job: PasswordJob): Promise<PasswordAnswer>;
  end(): Promise<void>;
}

/** Starts a thread and calls `onEnd` once it has ended. */
export type StartThread = (onEnd: (cause: unknown) => void) => Thread;

interface PasswordWatch {
  /** Called once: how many wait at the moment. */
  waiting(count: () => number): void;
  worked(durationMs: number): void;
  refused(): void;
}

export interface JobQueueOptions {
  /** The limit; a thread starts when it is needed. */
  threads: number;
  start: StartThread;
  /** With a longer expected wait, the queue is full: a job of the lane with the most jobs is refused. */
  maxWaitMs: number;
  /** Per thread, this many jobs may wait however long the expected wait is. */
  leastWaiting: number;
  /** When no job has ended for so long, the threads without a job end: each holds 15 MB. */
  idleMs: number;
  /** Called when a thread ended unasked, and at the first of several failed starts in a row. */
  onThreadDeath(cause: unknown): void;
  watch?: PasswordWatch;
}

interface Waiting {
  job: PasswordJob;
  /** The job is refused if it has not begun by then. */
  until: number;
  /** It is not refused to make room for another. */
  displaces: boolean;
  /** A thread has ended during this job. After a second one, the job is not run again. */
  hasEndedThread: boolean;
  resolve(answer: PasswordAnswer): void;
  reject(error: unknown): void;
}

/** The estimate before the first job has ended. */
const FIRST_DURATION_MS = 50;
/** The weight of the newest duration in the average. */
const SMOOTHING = 0.1;
/** Shorter than the wait of callers. The same for all: later jobs of other lanes may come before a job. */
const LONGEST_WAIT_MS = 3_000;

/** Jobs that wait for a thread, in lanes that take turns; only as many as can be served soon. */
export class JobQueue {
  readonly #options: JobQueueOptions;
  readonly #threads = new Set<Thread>();
  readonly #idle: Thread[] = [];
  readonly #waiting = new Lanes<Waiting>();
  /** Those whose thread has ended: they come first. */
  readonly #again: Waiting[] = [];
  /** Resolves when all idle threads that were stopped have ended. */
  #idleEnded: Promise<unknown> = Promise.resolve();
  #idleTimer: NodeJS.Timeout | undefined;
  #averageMs = FIRST_DURATION_MS;
  /** Whether the last start of a thread succeeded: of several failures, only the first is told. */
  #canStart = true;
  #closed = false;

  constructor(options: JobQueueOptions) {
    this.#options = options;
    options.watch?.waiting(() => this.#count);
  }

  /** A job that `displaces` is refused only if all that wait do so too. */
  async do(job: PasswordJob, lane: string, displaces = false): Promise<PasswordAnswer> {
    const { maxWaitMs, leastWaiting, threads } = this.#options;
    const waitMs = this.#expectedWaitMs();
    const areMany = this.#count >= leastWaiting * threads;
    if (this.#closed || (areMany && waitMs > maxWaitMs)) {
      // A job of a lane with more jobs than this one would have gives way.
      const least = displaces ? 1 : this.#waiting.waitingIn(lane) + 2;
      const other = this.#waiting.takeNewest(least, (one) => !one.displaces);
      this.#options.watch?.refused();
      if (!other) {
        throw tooBusy(waitMs);
      }
      other.reject(tooBusy(waitMs));
    }
    const answer = await new Promise<PasswordAnswer>((resolve, reject) => {
      const until = performance.now() + LONGEST_WAIT_MS;
      this.#waiting.add(lane, { job, until, displaces, hasEndedThread: false, resolve, reject });
      this.#dispatch();
    });
    if ('failure' in answer) {
      throw new Error(`A password could not be hashed or checked: ${answer.failure}`);
    }
    return answer;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    this.#rejectAll(() => tooBusy(0));
    await Promise.all([this.#idleEnded, ...[...this.#threads].map((thread) => thread.end())]);
  }

  get #count(): number {
    return this.#again.length + this.#waiting.count;
  }

  #next(): Waiting | undefined {
    return this.#again.shift() ?? this.#waiting.next();
  }

  #rejectAll(why: () => ServiceError): void {
    for (let one = this.#next(); one; one = this.#next()) {
      one.reject(why());
    }
  }

  #expectedWaitMs(): number {
    const { threads } = this.#options;
    const free = this.#idle.length + threads - this.#threads.size;
    const ahead = this.#count + 1 - free;
    return ahead <= 0 ? 0 : (ahead / threads) * this.#averageMs;
  }

  #dispatch(): void {
    this.#giveUp();
    while (this.#count > 0 && !this.#closed) {
      const present = this.#idle.pop();
      const thread = present ?? this.#startAnother();
      if (thread === undefined) {
        return;
      }
      void this.#serve(thread, this.#next() as Waiting, thread !== present);
    }
  }

  #giveUp(): void {
    const now = performance.now();
    for (const { reject } of this.#waiting.takeHeads(({ until }) => now > until, this.#count)) {
      this.#options.watch?.refused();
      reject(tooBusy(this.#expectedWaitMs()));
    }
  }

  #startAnother(): Thread | undefined {
    if (this.#threads.size >= this.#options.threads) {
      return undefined;
    }
    try {
      const thread = this.#options.start((cause) => this.#forget(thread, cause));
      this.#threads.add(thread);
      this.#canStart = true;
      return thread;
    } catch (cause) {
      // Such as EAGAIN, at a limit of threads. Running threads serve the jobs that wait.
      if (this.#canStart) {
        this.#options.onThreadDeath(cause);
      }
      this.#canStart = false;
      if (this.#threads.size === 0) {
        this.#rejectAll(() => notNow(cause));
      }
      return undefined;
    }
  }

  #forget(thread: Thread, cause: unknown): void {
    if (!this.#threads.delete(thread)) {
      return;
    }
    const place = this.#idle.indexOf(thread);
    if (place >= 0) {
      this.#idle.splice(place, 1);
    }
    if (!this.#closed) {
      this.#options.onThreadDeath(cause);
    }
  }

  #release(thread: Thread): void {
    this.#idle.push(thread);
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#endIdle(), this.#options.idleMs).unref();
  }

  #endIdle(): void {
    const ends = this.#idle.splice(0).map((thread) => {
      this.#threads.delete(thread);
      return thread.end();
    });
    this.#idleEnded = Promise.all([this.#idleEnded, ...ends]);
  }

  async #serve(thread: Thread, waiting: Waiting, isNew: boolean): Promise<void> {
    const begunAt = performance.now();
    try {
      const answer = await thread.do(waiting.job);
      const durationMs = performance.now() - begunAt;
      this.#options.watch?.worked(durationMs);
      if (!isNew) {
        // The first job of a thread also waits for its start, which takes several times as long.
        this.#averageMs += (durationMs - this.#averageMs) * SMOOTHING;
      }
      this.#release(thread);
      waiting.resolve(answer);
    } catch (cause) {
      this.#tryAgain(waiting, cause);
    }
    this.#dispatch();
  }

  #tryAgain(waiting: Waiting, cause: unknown): void {
    if (waiting.hasEndedThread || this.#closed) {
      waiting.reject(notNow(cause));
    } else {
      this.#again.push({ ...waiting, hasEndedThread: true });
    }
  }
}

function tooBusy(waitMs: number): ServiceError {
  return unavailable('Too many passwords are being checked. Try again in a moment.', waitMs);
}

function notNow(cause: unknown): ServiceError {
  return unavailable('Passwords cannot be checked just now. Try again in a moment.', 0, cause);
}

function unavailable(message: string, waitMs: number, cause?: unknown): ServiceError {
  return new ServiceError(ErrorCode.UNAVAILABLE, message, {
    cause,
    internal:
      cause === undefined
        ? undefined
        : `a password thread ended, or cannot start: ${(cause as Error).message}`,
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  });
}
