/**
 * Runs as a separate process: makes garbage, comes to rest, and ends when the garbage is collected, with
 * what it has done until then.
 */
import { runInNewContext } from 'node:vm';
import { releaseMemoryAtRest } from '../../src/cli/memory-at-rest.js';

const LOOK_EVERY_MS = 500;
const LOOKS_AT_WORK = 3;

let isWorking = true;
const registry = new FinalizationRegistry(() => {
  process.stdout.write(isWorking ? 'collected at work' : 'collected at rest');
  process.exit();
});
makeGarbage();

const workUntil = performance.now() + LOOKS_AT_WORK * LOOK_EVERY_MS;
const work = () => {
  if (performance.now() < workUntil) {
    setImmediate(work);
  } else {
    isWorking = false;
  }
};
releaseMemoryAtRest(LOOK_EVERY_MS);
if (runInNewContext('typeof gc') !== 'undefined') {
  throw new Error('Other contexts can collect garbage.');
}
work();
// Keeps the process.
setInterval(() => undefined, 60_000);

/** In a function, because a module keeps what it has last computed. */
function makeGarbage(): void {
  registry.register(new Array(1_000_000).fill('garbage'), undefined);
}
