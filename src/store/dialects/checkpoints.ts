import { Worker } from 'node:worker_threads';

const THREAD_FILE = new URL('./checkpoint-thread.js', import.meta.url);

export interface CheckpointOptions {
  /** The thread ended that nobody asked to end; all goes on without it, less evenly. */
  onThreadDeath(cause: Error): void;
  /** Another one for tests, which run the sources. */
  threadFile?: URL;
}

const LEAST_INTERVAL_MS = 100;
/** While there is a thread, SQLite itself comes in only when the log of a busy time is as long as this, to begin it anew: 64 MB. */
const LONG_LOG_PAGES = 16_000;
/** What SQLite does by itself. */
const USUAL_LOG_PAGES = 1_000;

/**
 * Takes what is written from SQLite's log over into its file, in a thread: at a commit, where SQLite does it, everybody would wait for the disk several
 * milliseconds. The thread is there from the first commit, and when it dies SQLite does it at a commit again.
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

  /** Before the writer closes, which takes over the rest. */
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
