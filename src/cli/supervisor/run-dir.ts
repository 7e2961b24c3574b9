import { join } from 'node:path';
import type { Config } from '../../config/config.js';
import { claimSocket } from '../unix-socket.js';

/** Claims the directory of the sockets by the path of one. */
export function claimRunDir({ DATA_DIR }: Config): string {
  const runDir = join(DATA_DIR, 'run');
  // The longest path decides whether all fit.
  claimSocket(
    join(runDir, 'worker.ops.sock'),
    `Another \`integration serve\` already runs on ${DATA_DIR}. Stop it, or set DATA_DIR to another directory.`,
  );
  return runDir;
}
