import { parentPort, workerData } from 'node:worker_threads';
import BetterSqlite3 from 'better-sqlite3';

/** Never waits for a lock: whoever has it does the same work. */
const database = new BetterSqlite3(workerData as string, { fileMustExist: true, timeout: 0 });
database.pragma('synchronous = NORMAL');
// The checkpoints are asked for.
database.pragma('wal_autocheckpoint = 0');

parentPort?.on('message', (asked: 'checkpoint' | 'end') => {
  if (asked === 'end') {
    database.close();
    parentPort?.close();
    return;
  }
  // Takes over what there is without making writers or readers wait.
  database.pragma('wal_checkpoint(PASSIVE)');
  parentPort?.postMessage('done');
});
