import { reasonOf } from '../log.js';
import { cachedExecutable, type InstallOptions } from './cache.js';
import { candidatesOnPath, isTemporal } from './command.js';
import { download } from './download.js';
import { goInstall } from './go-install.js';
import { DOWNLOAD_BASE_URL, leastGoVersion } from './pinned.js';

export interface FindOptions extends Partial<InstallOptions> {
  downloadBaseUrl?: string;
}

const SILENCE_LIMIT_MS = 15_000;

/** Finds the executable on the PATH or in the cache; if missing, downloads it or builds it with Go. */
export async function findTemporal(options: FindOptions = {}): Promise<string> {
  const install = {
    env: process.env,
    onProgress: () => undefined,
    silenceLimitMs: SILENCE_LIMIT_MS,
    ...options,
  };
  const present = await presentTemporal(install.env, install.signal);
  if (present) {
    return present;
  }
  const ways = [
    async () => download(options.downloadBaseUrl ?? DOWNLOAD_BASE_URL, install),
    async () => goInstall(install),
  ];
  const reasons: string[] = [];
  for (const get of ways) {
    try {
      return await get();
    } catch (error) {
      install.signal?.throwIfAborted();
      reasons.push(reasonOf(error));
      install.onProgress(`Not this way: ${reasonOf(error)}`);
    }
  }
  const go = `${leastGoVersion.major}.${leastGoVersion.minor}`;
  throw new Error(
    `Temporal is missing and could not be had (${reasons.join('; ')}): install the Temporal CLI ` +
      `(https://docs.temporal.io/cli) or Go ${go} or newer, or set TEMPORAL_ADDRESS to a server that runs.`,
  );
}

/** The executable on the PATH or in the cache; undefined without one. */
export async function presentTemporal(
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<string | undefined> {
  for (const executable of candidatesOnPath('temporal', env)) {
    if (await isTemporal(executable, signal)) {
      return executable;
    }
  }
  // Asked last: a user without a home folder has no cache.
  const cached = cachedExecutable(env);
  return (await isTemporal(cached, signal)) ? cached : undefined;
}
