import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const OWNER_ONLY = 0o700;
/** This user may not read the folder, or its file system syncs no names. */
const UNSYNCABLE = ['EACCES', 'EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP'];

/** Makes a folder, and those above it, for its owner alone; they survive a power failure. */
export function makeFolder(path: string): void {
  const first = makeRecursively(path);
  const present = dirname(resolve(first ?? path));
  for (let made = resolve(path); first !== undefined && made !== present; made = dirname(made)) {
    syncFolder(dirname(made));
  }
}

/** Returns the first folder that was missing. */
function makeRecursively(path: string): string | undefined {
  try {
    return mkdirSync(path, { recursive: true, mode: OWNER_ONLY });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw error;
    }
    // Node says so of a used-up quota or a read-only disk too. A call for one folder says what is true.
    let missing = resolve(path);
    while (missing !== dirname(missing) && !existsSync(dirname(missing))) {
      missing = dirname(missing);
    }
    mkdirSync(missing, OWNER_ONLY);
    throw error;
  }
}

/** Syncs the names in a folder, where that is possible. */
export function syncFolder(path: string): void {
  try {
    sync(path);
  } catch (error) {
    if (!UNSYNCABLE.includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw error;
    }
  }
}

/** Syncs the content of a file, or the names in a folder. */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
