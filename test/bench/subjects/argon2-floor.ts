import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

export const ARGON2_FLOOR_NAME = 'argon2id alone, on all cores';

/** In JavaScript, because a thread takes no TypeScript. */
const THREAD = new URL('./argon2-thread.js', import.meta.url);
const RAMP_UP_MS = 300;

/** How many passwords all cores together check in a second when they do nothing else. */
export async function argon2Rate(hash: string, password: string, durationMs: number): Promise<number> {
  let checked = 0;
  const threads = Array.from({ length: availableParallelism() }, () => {
    const thread = new Worker(THREAD, { workerData: { hash, password } });
    thread.on('message', () => {
      checked += 1;
    });
    return thread;
  });
  await sleep(RAMP_UP_MS);
  const before = checked;
  const startedAt = performance.now();
  await sleep(durationMs);
  const rate = (checked - before) / ((performance.now() - startedAt) / 1_000);
  await Promise.all(threads.map((thread) => thread.terminate()));
  return rate;
}
