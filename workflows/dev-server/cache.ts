import { chmod, mkdir, mkdtemp, readdir, rename, rm, statfs } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import path from 'node:path';
import { TEMPORAL_VERSION } from './pinned.js';

export interface InstallOptions {
  env: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** Called with a line for people whenever there is something to say, at least every ten seconds. */
  onProgress: (line: string) => void;
  /** A route that says nothing for so long is given up. */
  silenceLimitMs: number;
}

/** The cached executable of the pinned version. */
export function cachedExecutable(env: NodeJS.ProcessEnv): string {
  return path.join(cacheFolderOf(env, 'temporal', TEMPORAL_VERSION), 'temporal');
}

/** Where the executables of one version of a program are. */
export function cacheFolderOf(env: NodeJS.ProcessEnv, program: string, version: string): string {
  const cacheHome = env.XDG_CACHE_HOME || path.join(env.HOME || homedir(), '.cache');
  return path.join(cacheHome, 'integration-service', program, version);
}

/**
 * Calls `produce` with a folder in the cache and renames its executable into place, so that concurrent
 * installers and readers never see part of a file. Removes the folder.
 */
export async function installIntoCache(
  target: string,
  needsBytes: number,
  produce: (folder: string) => Promise<string>,
): Promise<string> {
  const cacheFolder = path.dirname(target);
  await mkdir(cacheFolder, { recursive: true });
  await removeLeftovers(cacheFolder);
  await assertFreeSpace(cacheFolder, needsBytes);
  // With the host's name, because containers with a shared cache have equal process ids.
  const folder = await mkdtemp(path.join(cacheFolder, `installing-${hostname()}-${process.pid}-`));
  try {
    const executable = await produce(folder);
    await chmod(executable, 0o755);
    await rename(executable, target);
    return target;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** Parsed whole, because the name of another host may begin with ours. */
const INSTALLER = /^installing-(?<host>.+)-(?<pid>\d+)-[^-]+$/;

/** Folders of killed installers, possibly gigabytes. */
async function removeLeftovers(cacheFolder: string): Promise<void> {
  for (const name of await readdir(cacheFolder)) {
    const { host, pid } = INSTALLER.exec(name)?.groups ?? {};
    if (host === hostname() && !isRunning(Number(pid))) {
      await rm(path.join(cacheFolder, name), { recursive: true, force: true });
    }
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
