import { join } from 'node:path';
import type { Config } from '../../config/config.js';
import type { RoleName } from '../roles/role.js';
import { claimSocket } from '../unix-socket.js';

export function runDirOf({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string {
  return join(DATA_DIR, 'run');
}

/** Where a role under `serve` answers its supervisor. */
export function opsSocketOf(runDir: string, role: RoleName): string {
  return join(runDir, `${role}.ops.sock`);
}

/** Claims the directory of the sockets by the path of one. */
export function claimRunDir(config: Config): string {
  const runDir = runDirOf(config);
  // The longest path decides whether all fit.
  claimSocket(
    opsSocketOf(runDir, 'worker'),
    `Another \`integration serve\` already runs on ${config.DATA_DIR}. Stop it, or set DATA_DIR to another directory.`,
  );
  return runDir;
}
