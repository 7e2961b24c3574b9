import { Worker } from 'node:worker_threads';

const THREAD_FILE = new URL('./checkpoint-thread.js', import.meta.url);

export interface CheckpointOptions {
  /** The thread ended unasked; checkpoints then happen at commits, which vary in time. */
  onThreadDeath(cause: Error): void;
  /** Replaced in tests, which run the sources. */
  threadFile?: URL;
}

const LEAST_INTERVAL_MS = 100;
/** With a thread, SQLite checkpoints by itself only at this length of the log, to restart it: 64 MB. */
const LONG_LOG_PAGES = 16_000;
/** SQLite's default. */
const USUAL_LOG_PAGES = 1_000;

/**
 * Checkpoints in a thread: at a commit, as SQLite does by default, all writes would wait milliseconds. The
 * thread starts with the first commit; if it dies, SQLite's default returns.
 */
export class Checkpoints {
  #worker: Worker | undefined;
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
    this.#worker ??= this.#start();
    this.#isAsked = true;
    this.#askedAt = now;
    this.#worker.postMessage('checkpoint');
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

  #start(): Worker {
    const { threadFile = THREAD_FILE, onThreadDeath } = this.options;
    const worker = new Worker(threadFile, { workerData: this.file, name: 'checkpoints' });
    worker.unref();
    this.setLogPages(LONG_LOG_PAGES);
    let fault: Error | undefined;
    worker.on('message', () => {
      this.#isAsked = false;
    });
    worker.on('error', (error) => {
      fault = error;
    });
    worker.once('exit', (code) => {
      this.#worker = undefined;
      if (!this.#isOver) {
        this.#isOver = true;
        this.setLogPages(USUAL_LOG_PAGES);
        onThreadDeath(fault ?? new Error(`The thread ended with code ${code}.`));
      }
    });
    return worker;
  }
}
