/** Opens a database where this process may open one more file, and prints the outcome as JSON. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { openSqlite } from '../../src/store/dialects/sqlite.js';

const [, , file = ''] = process.argv;
const opened: number[] = [];
spawnSync('prlimit', ['--pid', String(process.pid), '--nofile=256:']);
try {
  for (;;) {
    opened.push(openSync('/dev/null', 'r'));
  }
} catch {
  closeSync(opened.pop() ?? 0);
}
try {
  await openSqlite(file).close();
  process.stdout.write(JSON.stringify({ message: 'done' }));
} catch (error) {
  const { message, mayPass } = error as Error & { mayPass?: boolean };
  process.stdout.write(JSON.stringify({ message, mayPass }));
}
