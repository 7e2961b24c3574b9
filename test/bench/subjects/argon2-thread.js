/** Checks one password over and over, and reports each time. */
import { parentPort, workerData } from 'node:worker_threads';
import { verifySync } from '@node-rs/argon2';

const { hash, password } = workerData;

for (;;) {
  verifySync(hash, password);
  parentPort.postMessage(null);
}
