/** Deletes the demo environment below this folder, unless it runs: `make demo-reset`. */
import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { claimDirectory } from '../../store/file-lock.js';
import { print, say } from '../commands/output/print.js';
import { claimRunDir } from '../sockets.js';

const DATA_DIR = '.data/demo';
const RUNS = 'The demo is running. Stop it first: press Ctrl-C where `make run` is.';
/** Settings of a demo at another place. What they name is kept: it may belong to live. */
const PLACES = ['DATA_DIR', 'DATABASE_URL', 'DATABASE_URL_FILE', 'SECRETS_KEY_FILE'];

try {
  const [setting] = PLACES.filter((name) => resolve(process.env[name] || DATA_DIR) !== resolve(DATA_DIR));
  if (setting !== undefined) {
    throw new Error(
      `\`make demo-reset\` deletes only ${DATA_DIR} and its key file, and ${setting} is set. Unset it, or delete the demo that it names yourself.`,
    );
  }
  if (existsSync(DATA_DIR)) {
    // As `serve` does from its start on, and as a domain that runs by itself.
    claimRunDir({ DATA_DIR }, RUNS);
    claimDirectory(DATA_DIR, RUNS);
  }
  rmSync(DATA_DIR, { recursive: true, force: true });
  rmSync(`${DATA_DIR}.keys`, { recursive: true, force: true });
  print('The demo environment is gone. `make run` makes a new one.');
} catch (error) {
  say((error as Error).message);
  process.exitCode = 1;
}
