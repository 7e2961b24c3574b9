import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';

/** What a thread is asked; with a hash, whether the password is the one of it. */
export interface PasswordJob {
  password: string;
  hash?: string;
}

export type PasswordAnswer = { hash: string } | { matches: boolean } | { failure: string };

/** argon2id with 19 MiB, two passes and one lane, as OWASP recommends; the library's default algorithm is argon2id. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Gives way to whatever else there is to do, and still gets about a tenth of a processor that is fully busy. */
const NICENESS = 10;

yieldToOthers();
parentPort?.on('message', (job: PasswordJob) => parentPort?.postMessage(answerTo(job)));

function answerTo({ password, hash }: PasswordJob): PasswordAnswer {
  try {
    return hash === undefined
      ? { hash: hashSync(password, PARAMETERS) }
      : { matches: verifySync(hash, password) };
  } catch (error) {
    return { failure: (error as Error).message };
  }
}

/** Linux takes a priority for each thread. Elsewhere, and where it is not allowed, all are equal. */
function yieldToOthers(): void {
  try {
    const [, threadId] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? [];
    if (threadId !== undefined) {
      setPriority(Number(threadId), NICENESS);
    }
  } catch {
    return;
  }
}
