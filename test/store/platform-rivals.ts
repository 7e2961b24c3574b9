import { setTimeout } from 'node:timers/promises';
import type { UnitOfWork } from '../../src/domain/platform/unit-of-work.js';
import { updateUser } from '../../src/domain/platform/user-updates.js';
import { getUser } from '../../src/domain/platform/users.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';

/** Counters within one process: two processes alone seldom come between a reading and its writing on SQLite. */
const LANES = 5;

const PAUSE_MS = 1;

const MAY_TRY_AGAIN: ReadonlySet<ErrorCode> = new Set([ErrorCode.VERSION_CONFLICT, ErrorCode.UNAVAILABLE]);

export type Rivalry = 'firstName' | 'lastName' | 'count';

/** Writes the user so many times, at once with a rival who does the same. */
export async function writeAsRival(
  { run }: UnitOfWork,
  userId: string,
  rivalry: Rivalry,
  times: number,
): Promise<void> {
  if (rivalry === 'count') {
    const lanes = Array.from({ length: LANES }, async () => {
      for (let time = 1; time <= times / LANES; time += 1) {
        await retrying(() => countUp(run, userId));
      }
    });
    await Promise.all(lanes);
    return;
  }
  for (let time = 1; time <= times; time += 1) {
    await retrying(() => run((changes) => updateUser(changes, { userId, [rivalry]: `${time}` })));
    // SQLite has no queue: whoever writes without a pause would have it to themselves for a hundred writes.
    await setTimeout(PAUSE_MS);
  }
}

/** Decides on what it read: without the expected version, two rivals would count the same number. */
async function countUp(run: UnitOfWork['run'], userId: string): Promise<void> {
  const seen = await run((changes) => getUser(changes, userId));
  const firstName = `${Number(seen.firstName) + 1}`;
  await run((changes) => updateUser(changes, { userId, firstName, expectedVersion: seen.version }));
}

/** Whoever was told that nothing was written may try again: the other was faster, or held SQLite for too long. */
async function retrying(write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!(error instanceof ServiceError && MAY_TRY_AGAIN.has(error.code))) {
        throw error;
      }
    }
  }
}
