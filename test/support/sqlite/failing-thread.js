/** A thread that comes to grief with the first thing it is asked. */
import { parentPort } from 'node:worker_threads';

parentPort?.on('message', () => {
  throw new Error('the disk is gone');
});
