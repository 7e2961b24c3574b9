import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { onceARun } from './once-a-run.js';

/** A folder in the cache of this machine, made on first use and the same as long as what describes it is. */
export async function kept(
  name: string,
  description: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const key = createHash('sha256').update(description).digest('hex').slice(0, 16);
  const cacheHome = process.env.XDG_CACHE_HOME || join(process.env.HOME || homedir(), '.cache');
  const place = join(cacheHome, 'integration-service', `${name}-${key}`);
  if (!existsSync(place)) {
    // The other workers of this run wait, instead of making the same.
    await onceARun(`kept-${basename(place)}`, () => makeAt(place, make));
  }
  return place;
}

async function makeAt(place: string, make: (folder: string) => Promise<void>): Promise<void> {
  if (existsSync(place)) {
    return;
  }
  mkdirSync(dirname(place), { recursive: true });
  const staged = mkdtempSync(`${place}-`);
  try {
    await make(staged);
    // By one rename: two runs at once never see half of it.
    renameSync(staged, place);
  } catch (error) {
    // Where the other run was first, the folder is not empty, and as good.
    if (!existsSync(place)) {
      throw error;
    }
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}
