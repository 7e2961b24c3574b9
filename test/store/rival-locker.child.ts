/** Holds what a rival holds that tries to lock the file at the same time, until it finds the file locked. */
import { Sqlite } from '../../src/store/better-sqlite3.js';

const [, , file = ''] = process.argv;
const [shared, reserving] = [new Sqlite(file), new Sqlite(file, { timeout: 0 })];
shared.exec('begin');
shared.prepare('select * from sqlite_schema').all();
process.stdout.write('ready\n');

function isLocked(): boolean {
  try {
    reserving.exec('begin immediate; rollback');
    return false;
  } catch {
    return true;
  }
}

while (!isLocked()) {
  await new Promise(setImmediate);
}
shared.close();
