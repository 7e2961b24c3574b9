/** Runs as a separate process: makes garbage, comes to rest, and ends when the system has its memory back. */
import { releaseMemoryAtRest } from '../../src/cli/memory-at-rest.js';

const GIVEN_BACK_BYTES = 16 * 1_024 * 1_024;

let surviving: object[] = [];
for (let made = 0; made < 2_000_000; made += 1) {
  surviving.push({ made, list: [made], text: `object ${made}` });
  // The young generation grows with what survives its collections.
  if (surviving.length === 1_000) {
    surviving = [];
  }
}
const grownBytes = process.memoryUsage.rss();
releaseMemoryAtRest(500);
setInterval(() => {
  if (process.memoryUsage.rss() < grownBytes - GIVEN_BACK_BYTES) {
    process.stdout.write('given back');
    process.exit();
  }
}, 100);
