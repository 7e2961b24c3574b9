import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { normalizedPassword, type PasswordHasher, UNMATCHED_HASH } from '../domain/credentials/passwords.js';
import { JobQueue, type JobQueueOptions, type StartThread } from './job-queue.js';
import type { PasswordAnswer } from './password-thread.js';

const THREAD_FILE = new URL('./password-thread.js', import.meta.url);

/** The lane of the platform’s calls. */
const NO_NETWORK = '';

/** So that most people are answered within a second. */
const MAX_WAIT_MS = 800;
/** Per thread: this many may wait for longer, so that a slow machine does not refuse every sign-in. */
const LEAST_WAITING = 4;
/** After this, idle threads end. The next sign-in waits about 50 ms for the start of a thread. */
const IDLE_MS = 10_000;
/** A thread at work holds about 35 MB, and a node on Kubernetes has 1 GiB on a machine of any size. */
const MOST_THREADS = 16;

export interface PasswordHasherOptions extends Partial<Omit<JobQueueOptions, 'start'>> {
  /** Replaced in tests, which run the sources. */
  threadFile?: URL;
}

/** A hasher with worker threads, which `close` ends. */
export interface ThreadedPasswordHasher extends PasswordHasher {
  close(): Promise<void>;
}

export function passwordThreadsFor(processors: number): number {
  return Math.min(processors, MOST_THREADS);
}

/** Has one thread per processor by default, up to 16. The threads run at low priority. */
export function threadedPasswordHasher({
  threadFile = THREAD_FILE,
  ...options
}: PasswordHasherOptions = {}): ThreadedPasswordHasher {
  const queue = new JobQueue({
    threads: passwordThreadsFor(availableParallelism()),
    maxWaitMs: MAX_WAIT_MS,
    leastWaiting: LEAST_WAITING,
    idleMs: IDLE_MS,
    onThreadDeath: () => undefined,
    ...options,
    start: threadsOf(threadFile),
  });
  return {
    hash: async (password, network = NO_NETWORK) => {
      const answer = await queue.do({ password: normalizedPassword(password) }, network);
      return (answer as { hash: string }).hash;
    },
    verify: async (hash, password, network = NO_NETWORK, isKnownBrowser = false) => {
      const job = { password: normalizedPassword(password), hash: hash ?? UNMATCHED_HASH };
      const answer = await queue.do(job, network, isKnownBrowser);
      return hash !== undefined && (answer as { matches: boolean }).matches;
    },
    close: () => queue.close(),
  };
}

function threadsOf(file: URL): StartThread {
  return (onEnd) => {
    const worker = new Worker(file, { name: 'passwords' });
    // A thread without a job keeps no process alive.
    worker.unref();
    let job: { resolve(answer: PasswordAnswer): void; reject(cause: unknown): void } | undefined;
    let fault: unknown;
    worker.on('message', (answer: PasswordAnswer) => {
      worker.unref();
      job?.resolve(answer);
      job = undefined;
    });
    worker.once('error', (error) => {
      fault = error;
    });
    worker.once('exit', (code) => {
      const cause = fault ?? new Error(`The thread ended with code ${code}.`);
      onEnd(cause);
      job?.reject(cause);
      job = undefined;
    });
    return {
      do: (asked) =>
        new Promise((resolve, reject) => {
          job = { resolve, reject };
          worker.ref();
          worker.postMessage(asked);
        }),
      end: async () => {
        await worker.terminate();
      },
    };
  };
}
