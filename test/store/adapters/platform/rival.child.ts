/** One of two processes that write the same user: waits for the other, then writes and prints. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { openSqlite } from '../../../../src/store/dialects/sqlite.js';
import { type Rivalry, writeAsRival } from './rivals.js';

const [, , dataDir = '', own = '', other = '', userId = '', rivalry = '', times = ''] = process.argv;
const database = openSqlite(join(dataDir, 'integration.db'));
writeFileSync(join(dataDir, own), '');
while (!existsSync(join(dataDir, other))) {
  // Not without a pause: the other is still loading, perhaps on the same processor.
  await pause(1);
}
await writeAsRival(platformUnitOfWork(database), userId, rivalry as Rivalry, Number(times));
await database.close();
process.stdout.write('all acknowledged');
