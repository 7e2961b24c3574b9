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
  takeOver();
  parentPort?.postMessage('done');
});

/** Takes over what there is without making writers or readers wait. */
function takeOver(): void {
  try {
    database.pragma('wal_checkpoint(PASSIVE)');
  } catch (error) {
    // There may be room, or nobody in the way, the next time.
    if (!/^SQLITE_(FULL|BUSY|LOCKED)/.test((error as { code?: string }).code ?? '')) {
      throw error;
    }
  }
}
