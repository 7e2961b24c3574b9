/** Deletes the demo environment below this folder, unless it runs: `make demo-reset`. */
import { existsSync, rmSync } from 'node:fs';
import { claimDirectory } from '../../store/file-lock.js';
import { print, say } from '../commands/output/print.js';

const DATA_DIR = '.data/demo';
const RUNS = 'The demo is running. Stop it first: press Ctrl-C where `make run` is.';

try {
  const claim = existsSync(DATA_DIR) ? claimDirectory(DATA_DIR, RUNS) : undefined;
  rmSync(DATA_DIR, { recursive: true, force: true });
  rmSync(`${DATA_DIR}.keys`, { recursive: true, force: true });
  claim?.release();
  print('The demo environment is gone. `make run` makes a new one.');
} catch (error) {
  say((error as Error).message);
  process.exitCode = 1;
}
