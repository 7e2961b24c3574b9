import { setTimeout } from 'node:timers/promises';
import { updateUser } from '../../../../src/domain/platform/people/user-updates.js';
import { getUser } from '../../../../src/domain/platform/people/users.js';
import type { PlatformUnitOfWork } from '../../../../src/domain/platform/unit-of-work.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';

/** Counters within one process: on SQLite two processes rarely interleave a read and its write. */
const LANES = 5;

const PAUSE_MS = 5;

const MAY_TRY_AGAIN: ReadonlySet<ErrorCode> = new Set([ErrorCode.VERSION_CONFLICT, ErrorCode.UNAVAILABLE]);

export type Rivalry = 'firstName' | 'lastName' | 'count';

/** Writes the user so many times, at once with a rival who does the same. */
export async function writeAsRival(
  { run }: PlatformUnitOfWork,
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
    // SQLite has no queue: a writer without pauses would keep it for a hundred writes.
    await setTimeout(PAUSE_MS);
  }
}

/** Decides on what it read: without the expected version, two rivals would count the same number. */
async function countUp(run: PlatformUnitOfWork['run'], userId: string): Promise<void> {
  const seen = await run((changes) => getUser(changes, userId));
  const firstName = `${Number(seen.firstName) + 1}`;
  await run((changes) => updateUser(changes, { userId, firstName, expectedVersion: seen.version }));
}

/** Repeats a write that was not made: another was faster, or held SQLite for too long. */
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
