import { setTimeout as sleep } from 'node:timers/promises';
import type { InstanceId } from '../../../generated/ids.js';
import type { ChangeStore } from './stores.js';

/** Other nodes write too, and do not notify this one. A look takes some microseconds. */
const LOOK_EVERY_MS = 20;
/** In looks. After a promotion or a restore, the newest position may be an earlier one. */
const GO_BACK_EVERY = 50;

/** Yields the instances that change, until the signal. The first array is empty and marks the start. */
export async function* changedInstances(
  changes: Pick<ChangeStore, 'newest' | 'changedSince'>,
  signal: AbortSignal,
  lookEveryMs = LOOK_EVERY_MS,
): AsyncGenerator<InstanceId[]> {
  let seen = await changes.newest();
  yield [];
  for (let looks = 1; !signal.aborted; looks += 1) {
    if (looks % GO_BACK_EVERY === 0) {
      seen = Math.min(seen, await changes.newest());
    }
    const { instanceIds, position } = await changes.changedSince(seen);
    seen = position;
    if (instanceIds.length > 0) {
      yield instanceIds;
    }
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
}
