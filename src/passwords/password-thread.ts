import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';

/** A password to hash or, with a hash, to verify. */
export interface PasswordJob {
  password: string;
  hash?: string;
}

export type PasswordAnswer = { hash: string } | { matches: boolean } | { failure: string };

/** argon2id (the library's default algorithm) with 19 MiB, two passes and one lane, as OWASP recommends. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Yields to other work, and still gets about a tenth of a busy processor. */
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

/** Linux has a priority per thread. Elsewhere, and where it is not permitted, all are equal. */
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
