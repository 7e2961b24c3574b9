import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** V8 shrinks its young generation only if little memory was taken in the 5 s before a collection. */
const LOOK_EVERY_MS = 10_000;
/** At rest, the event loop is busy for at most this part of the time. */
const MOST_AT_REST = 0.02;
/** The heap may grow to so many times what the last collection left in use. */
const MOST_OF_USED = 1.5;
/** The least time between two collections, each of which stops the process for some 100 ms. */
const APART_MS = 20_000;
/**
 * V8 13 (Node 24) keeps the emptied pages of the young generation unless the collection is asked to free all
 * that it can. Asked the same, V8 11 (Node 20) would collect the young generation alone.
 */
const ALL =
  Number.parseInt(process.versions.v8, 10) >= 13 ? { type: 'major', flavor: 'last-resort' } : undefined;

/**
 * Collects garbage when the process has come to rest with a grown heap. V8 collects mainly when memory is
 * asked for, so at rest it keeps for long what the start or a burst of work left.
 */
export function releaseMemoryAtRest(lookEveryMs = LOOK_EVERY_MS): void {
  setFlagsFromString('--expose-gc');
  const collect: (what?: object) => void = runInNewContext('gc');
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
      collect(ALL);
      usedBytes = getHeapStatistics().used_heap_size;
      collectedAt = now;
    }
  };
  setInterval(look, lookEveryMs).unref();
}
