import { dirname } from 'node:path';
import { makeFolder } from '../files/folders.js';
import { lockFile } from '../store/file-lock.js';
import { StartupError } from './startup-error.js';

/** The limit of the strictest supported system. */
const MAX_PATH_BYTES = 103;

/** Undefined for an address that is not a socket. */
export function socketPathOf(address: string): string | undefined {
  return address.startsWith('unix:') ? address.slice('unix:'.length) : undefined;
}

/** Makes the directory of a socket, and locks its path until this process ends. */
export function claimSocket(path: string, refusal: string): void {
  // The system would say "invalid argument".
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new StartupError(
      `The path ${path} is too long for a socket. Set DATA_DIR to a shorter one, or DOMAIN_ADDRESS.`,
    );
  }
  const directory = dirname(path);
  try {
    makeFolder(directory);
  } catch (error) {
    throw new StartupError(`The directory ${directory} cannot be written: ${(error as Error).message}.`);
  }
  const lock = lockFile(`${path}.lock`, refusal);
  // If the lock were garbage-collected, it would be released.
  process.once('exit', lock.release);
}
