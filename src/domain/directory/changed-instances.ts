import { setTimeout as sleep } from 'node:timers/promises';
import type { InstanceId } from '../../../generated/ids.js';
import type { ChangeStore } from './stores.js';

/** Other nodes write too, and nothing tells of a commit. The read takes some microseconds. */
const LOOK_EVERY_MS = 20;

/** First nothing, at once; then the instances that change, until the signal. */
export async function* changedInstances(
  changes: Pick<ChangeStore, 'newest' | 'changedSince'>,
  signal: AbortSignal,
  lookEveryMs = LOOK_EVERY_MS,
): AsyncGenerator<InstanceId[]> {
  let seen = await changes.newest();
  yield [];
  while (!signal.aborted) {
    const { instanceIds, position } = await changes.changedSince(seen);
    seen = position;
    if (instanceIds.length > 0) {
      yield instanceIds;
    }
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
}
