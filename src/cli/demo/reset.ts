/** Deletes the demo environment below this folder, unless it runs: `make demo-reset`. */
import { existsSync, rmSync } from 'node:fs';
import { claimDirectory, lockFile } from '../../store/file-lock.js';
import { print, say } from '../commands/output/print.js';
import { opsSocketOf, runDirOf } from '../sockets.js';

const DATA_DIR = '.data/demo';
const RUNS = 'The demo is running. Stop it first: press Ctrl-C where `make run` is.';

/** The locks of `serve`, which has one from its start on, and of a domain by itself. */
function locks(): { release(): void }[] {
  const runDir = runDirOf({ DATA_DIR });
  return [
    ...(existsSync(runDir) ? [lockFile(`${opsSocketOf(runDir, 'worker')}.lock`, RUNS)] : []),
    ...(existsSync(DATA_DIR) ? [claimDirectory(DATA_DIR, RUNS)] : []),
  ];
}

try {
  const held = locks();
  rmSync(DATA_DIR, { recursive: true, force: true });
  rmSync(`${DATA_DIR}.keys`, { recursive: true, force: true });
  for (const lock of held) {
    lock.release();
  }
  print('The demo environment is gone. `make run` makes a new one.');
} catch (error) {
  say((error as Error).message);
  process.exitCode = 1;
}
