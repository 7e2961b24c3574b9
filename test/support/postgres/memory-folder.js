import { accessSync, constants, statfsSync } from 'node:fs';
import { freemem } from 'node:os';

const MEMORY = '/dev/shm';
/** Far more than all the databases that are there at once; containers often have 64 MB. */
const ROOM_BYTES = 4 * 1024 ** 3;

/** A folder in memory, on systems that have one with room for the databases of a run. */
export function roomyMemoryFolder() {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, freemem()) >= ROOM_BYTES ? MEMORY : undefined;
  } catch {
    return undefined;
  }
}
