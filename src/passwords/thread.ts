import { Worker } from 'node:worker_threads';
import type { PasswordAnswer, PasswordJob } from './password-thread.js';

/** Takes one job at a time. */
export interface Thread {
  /** Rejects when the thread ends before it answers. */
  do(job: PasswordJob): Promise<PasswordAnswer>;
  end(): Promise<void>;
}

/** Starts a thread and calls `onEnd` once it has ended. */
export type StartThread = (onEnd: (cause: unknown) => void) => Thread;

export function threadsOf(file: URL): StartThread {
  return (onEnd) => {
    const worker = new Worker(file, { name: 'passwords' });
    // A thread without a job keeps no process alive.
    worker.unref();
    let job: PromiseWithResolvers | undefined;
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

interface PromiseWithResolvers {
  resolve(answer: PasswordAnswer): void;
  reject(cause: unknown): void;
}
