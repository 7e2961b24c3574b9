import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packers } from '../../../src/sdk/packaging/packages.js';
import { type PackageFile, sourcesIn } from '../../../src/sdk/packaging/sources.js';

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);
const MYPY = 'mypy>=1.15,<3';
const INSTALL_LIMIT_MS = 240_000;
const KEPT_ENVIRONMENTS = 3;
const STAGED = 'installing-';

export const projectFolder = join(import.meta.dirname, 'project');
export const readmePath = join(root, 'src/sdk/python/README.md');

export function wheel(): PackageFile {
  const [file] = packers.python(sourcesIn(root));
  return file as PackageFile;
}

/**
 * The Python of a virtual environment with the wheel, its dependencies and mypy. It is cached for the same
 * wheel; the dependencies come from the index the first time.
 */
export async function pythonWithSdk(python: string): Promise<string> {
  const { path: name, content } = wheel();
  const { stdout: version } = await run(python, ['-c', 'import sys; print(sys.executable, sys.version)']);
  const key = createHash('sha256').update(content).update(version).update(MYPY).digest('hex').slice(0, 16);
  const folder = join(cacheFolder(), key);
  const executable = join(folder, 'bin/python');
  if (!existsSync(executable)) {
    await install(python, folder, { name, content });
  }
  const now = new Date();
  utimesSync(folder, now, now);
  removeOldest();
  return executable;
}

/** Each change of the wheel makes an environment of a hundred megabytes. */
function removeOldest(): void {
  const folders = readdirSync(cacheFolder())
    .filter((name) => !name.startsWith(STAGED))
    .map((name) => join(cacheFolder(), name))
    .map((folder) => ({ folder, usedAt: statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.usedAt - one.usedAt);
  for (const { folder } of folders.slice(KEPT_ENVIRONMENTS)) {
    rmSync(folder, { recursive: true, force: true });
  }
}

function cacheFolder(): string {
  const cacheHome = process.env.XDG_CACHE_HOME || join(process.env.HOME || homedir(), '.cache');
  return join(cacheHome, 'integration-service', 'sdk-python');
}

/** Put in place by one rename, so that two runs at once never see half of it. */
async function install(
  python: string,
  folder: string,
  wheel: { name: string; content: Uint8Array },
): Promise<void> {
  mkdirSync(cacheFolder(), { recursive: true });
  const staged = mkdtempSync(join(cacheFolder(), STAGED));
  try {
    const file = join(staged, wheel.name);
    writeFileSync(file, wheel.content);
    await run(python, ['-m', 'venv', join(staged, 'venv')]);
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
    await run(join(staged, 'venv/bin/python'), ['-m', 'pip', 'install', ...quiet, file, MYPY], {
      timeout: INSTALL_LIMIT_MS,
    });
    if (!existsSync(folder)) {
      renameSync(join(staged, 'venv'), folder);
    }
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}
