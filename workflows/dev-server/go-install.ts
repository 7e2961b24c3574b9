import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { cachedExecutable, type InstallOptions, installIntoCache } from './cache.js';
import { isTemporal, runCommand } from './command.js';
import { GO_BUILD_NEEDS_BYTES, leastGoVersion, TEMPORAL_MODULE, TEMPORAL_VERSION } from './pinned.js';

const GO_VERSION_LIMIT_MS = 10_000;
const PROGRESS_EVERY_MS = 10_000;
/** Compiling prints each package; linking, at the end, is the longest silence. */
const BUILD_SILENCE_LIMIT_MS = 5 * 60_000;

/** Commands of one module, in one version. */
interface GoCommands {
  title: string;
  /** As for `go install`: `example.com/module/cmd/name@v1.2.3`. */
  packages: readonly string[];
}

const temporalCommand: GoCommands = {
  title: `Temporal ${TEMPORAL_VERSION}`,
  packages: [`${TEMPORAL_MODULE}@v${TEMPORAL_VERSION}`],
};

/** Builds the pinned version from source. Throws a reason without a full stop. */
export async function goInstall(options: InstallOptions): Promise<string> {
  await assertGo(options);
  return installIntoCache(cachedExecutable(options.env), GO_BUILD_NEEDS_BYTES, async (folder) => {
    await buildWithGo(folder, temporalCommand, options);
    const executable = path.join(folder, 'bin', 'temporal');
    if (!(await isTemporal(executable, options.signal))) {
      throw new Error('what Go built does not run here');
    }
    return executable;
  });
}

export async function assertGo({ env, signal }: InstallOptions): Promise<void> {
  const wanted = `${leastGoVersion.major}.${leastGoVersion.minor}`;
  const { code, lastLines } = await runCommand('go', ['version'], {
    env: { ...env, GOTOOLCHAIN: 'local' },
    signal,
    silenceLimitMs: GO_VERSION_LIMIT_MS,
  });
  const found = /\bgo(\d+)\.(\d+)/.exec(lastLines.join('\n'));
  if (code !== 0 || !found) {
    throw new Error(`Go ${wanted} or newer is not on the PATH`);
  }
  const [major, minor] = [Number(found[1]), Number(found[2])];
  const { major: leastMajor, minor: leastMinor } = leastGoVersion;
  if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
    throw new Error(`Go ${wanted} or newer is needed and the one on the PATH is ${major}.${minor}`);
  }
}

/** Builds into the folder `bin` of a folder, which also gets all else that Go writes. */
export async function buildWithGo(
  folder: string,
  { title, packages }: GoCommands,
  options: InstallOptions,
): Promise<void> {
  const { signal, onProgress, silenceLimitMs } = options;
  const startedAt = Date.now();
  let doing = 'asking for the module';
  const progress = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    onProgress(`Building ${title}: ${seconds} s, ${doing}`);
  }, PROGRESS_EVERY_MS);
  onProgress(`Building ${title} with Go: two to five minutes, once on this machine`);
  const answer = new AbortController();
  const noAnswer = setTimeout(() => {
    answer.abort(new Error(`Go got no answer for the module within ${silenceLimitMs / 1000} s`));
  }, silenceLimitMs);
  try {
    const result = await runCommand('go', ['install', '-v', '-trimpath', '-ldflags=-s -w', ...packages], {
      env: await goEnvironment(folder, options.env),
      signal: AbortSignal.any([answer.signal, ...(signal ? [signal] : [])]),
      silenceLimitMs: BUILD_SILENCE_LIMIT_MS,
      onLine(line) {
        clearTimeout(noAnswer);
        doing = describe(line);
      },
    });
    if (result.code !== 0) {
      const failure = `go install failed (${result.lastLines.at(-1) ?? 'no output'})`;
      throw new Error(result.wentSilent ? 'go install stood still' : failure);
    }
  } finally {
    clearInterval(progress);
    clearTimeout(noAnswer);
  }
}

/** Everything that Go writes goes into the folder; the module cache is made deletable. */
async function goEnvironment(folder: string, env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const inside = (name: string) => path.join(folder, name);
  await mkdir(inside('tmp'));
  const { GOOS: _os, GOARCH: _arch, ...rest } = env;
  return {
    ...rest,
    GOTOOLCHAIN: 'local',
    GOFLAGS: '-modcacherw',
    CGO_ENABLED: '0',
    GOPATH: inside('path'),
    GOMODCACHE: inside('modules'),
    GOCACHE: inside('build'),
    GOBIN: inside('bin'),
    GOTMPDIR: inside('tmp'),
  };
}

function describe(line: string): string {
  const downloaded = /^go: downloading (\S+)/.exec(line);
  return downloaded ? `downloading ${downloaded[1]}` : `compiling ${line}`;
}
