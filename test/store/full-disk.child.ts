/** Makes a lock or opens a store where no file grows beyond some bytes, and prints the outcome as JSON. */
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { lockFile } from '../../src/store/file-lock.js';
import { openStore } from '../../src/store/store.js';

const [, , bytes, file = ''] = process.argv;
spawnSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]);
try {
  if (file.endsWith('.lock')) {
    lockFile(file, 'The keys are in use.').release();
  } else {
    await (await openStore({ dataDir: dirname(file), environment: 'live', alone: true })).close();
  }
  process.stdout.write(JSON.stringify({ message: 'done' }));
} catch (error) {
  const { message, mayPass } = error as Error & { mayPass?: boolean };
  process.stdout.write(JSON.stringify({ message, mayPass }));
}
