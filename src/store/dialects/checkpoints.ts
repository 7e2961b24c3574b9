import { Worker } from 'node:worker_threads';

const THREAD_FILE = new URL('./checkpoint-thread.js', import.meta.url);

export interface CheckpointOptions {
  /** The thread ended unasked or cannot start; checkpoints then happen at commits, which vary in time. */
  onThreadDeath(cause: Error): void;
  /** Replaced in tests, which run the sources. */
  threadFile?: URL;
  /** Shorter in tests. */
  idleMs?: number;
}

const LEAST_INTERVAL_MS = 100;
/** The thread starts at so many commits: a service at rest makes one now and then, and needs no thread. */
const FIRST_COMMITS = 32;
/** After this without a commit, the thread ends, which frees 10 MB. */
const IDLE_MS = 10_000;
/** With a thread, SQLite checkpoints by itself only at this length of the log, to restart it: 64 MB. */
const LONG_LOG_PAGES = 16_000;
/** SQLite's default. */
const USUAL_LOG_PAGES = 1_000;

/**
 * Checkpoints in a thread: at a commit, as SQLite does by default, all writes would wait milliseconds. The
 * thread starts after some commits and ends when none follows; if it dies or cannot start, SQLite's default
 * returns.
 */
export class Checkpoints {
  #worker: Worker | undefined;
  #commitsWithoutThread = 0;
  #isAsked = false;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isOver = false;

  constructor(
    private readonly file: string,
    private readonly options: CheckpointOptions,
    private readonly setLogPages: (pages: number) => void,
  ) {}

  noteCommit(): void {
    const now = performance.now();
    if (this.#isOver || this.#isAsked || now - this.#askedAt < LEAST_INTERVAL_MS) {
      return;
    }
    if (!this.#worker) {
      this.#commitsWithoutThread += 1;
      if (this.#commitsWithoutThread < FIRST_COMMITS) {
        return;
      }
      this.#commitsWithoutThread = 0;
      this.#worker = this.#start();
    }
    if (this.#worker) {
      this.#isAsked = true;
      this.#askedAt = now;
      this.#worker.postMessage('checkpoint');
    }
  }

  /** Before the writer closes, which checkpoints the rest. */
  async close(): Promise<void> {
    this.#isOver = true;
    const worker = this.#worker;
    if (worker) {
      await new Promise((resolve) => {
        worker.once('exit', resolve);
        worker.ref();
        worker.postMessage('end');
      });
    }
  }

  #start(): Worker | undefined {
    const { threadFile = THREAD_FILE, idleMs = IDLE_MS, onThreadDeath } = this.options;
    let worker: Worker;
    try {
      worker = new Worker(threadFile, { workerData: this.file, name: 'checkpoints' });
    } catch (error) {
      // Such as EAGAIN, at a limit of threads. The commit that wanted the thread has succeeded.
      this.#isOver = true;
      onThreadDeath(error as Error);
      return undefined;
    }
    worker.unref();
    this.setLogPages(LONG_LOG_PAGES);
    let fault: Error | undefined;
    let isIdle = false;
    const idle = setTimeout(() => {
      if (!this.#isAsked) {
        isIdle = true;
        // Until it has ended, commits ask for nothing.
        this.#isAsked = true;
        worker.postMessage('end');
      }
    }, idleMs).unref();
    worker.on('message', () => {
      this.#isAsked = false;
      idle.refresh();
    });
    worker.on('error', (error) => {
      fault = error;
    });
    worker.once('exit', (code) => {
      clearTimeout(idle);
      this.#worker = undefined;
      this.#isAsked = false;
      if (this.#isOver) {
        return;
      }
      this.setLogPages(USUAL_LOG_PAGES);
      if (fault || !isIdle) {
        this.#isOver = true;
        onThreadDeath(fault ?? new Error(`The thread ended with code ${code}.`));
      }
    });
    return worker;
  }
}
