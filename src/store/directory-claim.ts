import { join } from 'node:path';
import { lockFile } from './file-lock.js';

const CLAIM_FILE = 'domain.lock';

/** Claims a data directory for this process. Two domains would miss each other's events. */
export function claimDirectory(dataDir: string): { release(): void } {
  return lockFile(
    join(dataDir, CLAIM_FILE),
    `Another domain already runs on ${dataDir}. Stop it, or set DATA_DIR to another directory.`,
  );
}
