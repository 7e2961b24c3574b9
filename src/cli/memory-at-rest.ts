import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** V8 shrinks its young generation only if little memory was taken in the 5 s before a collection. */
const LOOK_EVERY_MS = 10_000;
/** At rest, the event loop is busy for at most this part of the time. */
const MOST_AT_REST = 0.02;
/** The heap may grow to so many times what the last collection left in use. */
const MOST_OF_USED = 1.5;
/** The least time between two collections, each of which stops the process for some tens of milliseconds. */
const APART_MS = 20_000;

/**
 * Collects garbage when the process has come to rest with a grown heap. V8 collects mainly when memory is
 * asked for, so at rest it keeps for long what the start or a burst of work left.
 */
export function releaseMemoryAtRest(lookEveryMs = LOOK_EVERY_MS): void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  // Later contexts, such as those of threads and workflows, need no `gc`.
  setFlagsFromString('--no-expose-gc');
  let lastLoop = performance.eventLoopUtilization();
  let usedBytes = 0;
  let collectedAt = Number.NEGATIVE_INFINITY;
  const look = () => {
    const loop = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(loop, lastLoop);
    lastLoop = loop;
    const now = performance.now();
    const hasGrown = getHeapStatistics().total_heap_size > MOST_OF_USED * usedBytes;
    if (utilization <= MOST_AT_REST && hasGrown && now - collectedAt >= APART_MS) {
      collect();
      usedBytes = getHeapStatistics().used_heap_size;
      collectedAt = now;
    }
  };
  setInterval(look, lookEveryMs).unref();
}
