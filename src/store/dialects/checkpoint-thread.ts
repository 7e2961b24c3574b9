import { parentPort, workerData } from 'node:worker_threads';
import { Sqlite } from '../better-sqlite3.js';

/** Never waits for a lock: its holder does the same work. */
const database = new Sqlite(workerData as string, { fileMustExist: true, timeout: 0 });
database.pragma('synchronous = NORMAL');
// The main thread requests checkpoints.
database.pragma('wal_autocheckpoint = 0');

parentPort?.on('message', (asked: 'checkpoint' | 'end') => {
  if (asked === 'end') {
    database.close();
    parentPort?.close();
    return;
  }
  takeOver();
  parentPort?.postMessage('done');
});

/** Checkpoints without making writers or readers wait. */
function takeOver(): void {
  try {
    database.pragma('wal_checkpoint(PASSIVE)');
  } catch (error) {
    // The next attempt may find room, or no lock.
    if (!/^SQLITE_(FULL|BUSY|LOCKED)/.test((error as { code?: string }).code ?? '')) {
      throw error;
    }
  }
}
