import { chmod, mkdir, mkdtemp, readdir, rename, rm, statfs } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import path from 'node:path';
import { temporalVersion } from './pinned.js';

/** Where an executable of the pinned version is kept between runs. */
export function cachedExecutable(env: NodeJS.ProcessEnv): string {
  const cacheHome = env.XDG_CACHE_HOME || path.join(env.HOME || homedir(), '.cache');
  return path.join(cacheHome, 'integration-service', 'temporal', temporalVersion, 'temporal');
}

/**
 * Gives `produce` a folder on the cache's own file system and puts the executable it returns in place by one
 * rename, so that two installers at once, or a reader meanwhile, never see half a file. The folder goes in any case.
 */
export async function installIntoCache(
  env: NodeJS.ProcessEnv,
  needsBytes: number,
  produce: (folder: string) => Promise<string>,
): Promise<string> {
  const target = cachedExecutable(env);
  const cacheFolder = path.dirname(target);
  await mkdir(cacheFolder, { recursive: true });
  await removeLeftovers(cacheFolder);
  await assertFreeSpace(cacheFolder, needsBytes);
  const folder = await mkdtemp(path.join(cacheFolder, `${folderPrefix()}${process.pid}-`));
  try {
    const executable = await produce(folder);
    await chmod(executable, 0o755);
    await rename(executable, target);
    return target;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** With the host's name, because process ids say nothing about containers that share this cache. */
const folderPrefix = () => `installing-${hostname()}-`;

/** Folders of installers that were killed: gigabytes, possibly. */
async function removeLeftovers(cacheFolder: string): Promise<void> {
  for (const name of await readdir(cacheFolder)) {
    if (!name.startsWith(folderPrefix())) continue;
    const pid = Number.parseInt(name.slice(folderPrefix().length), 10);
    if (!isRunning(pid)) await rm(path.join(cacheFolder, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function assertFreeSpace(folder: string, needsBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const freeGb = (bavail * bsize) / 1024 ** 3;
  const neededGb = needsBytes / 1024 ** 3;
  if (freeGb < neededGb) {
    throw new Error(`${folder} has ${freeGb.toFixed(1)} GB free and ${neededGb.toFixed(1)} GB are needed`);
  }
}
