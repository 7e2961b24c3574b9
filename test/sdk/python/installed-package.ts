import { createHash } from 'node:crypto';
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packers } from '../../../src/sdk/packaging/packages.js';
import { type PackageFile, sourcesIn } from '../../../src/sdk/packaging/sources.js';
import { kept } from '../../support/kept.js';
import { run } from '../../support/kept-programs.js';
import { fromTheList } from '../../support/python-tools.js';

const root = join(import.meta.dirname, '../../..');
const INSTALL_LIMIT_MS = 240_000;
const KEPT_ENVIRONMENTS = 3;
/** The names of finished environments; those of earlier releases begin with the key. */
const ENVIRONMENT = /^(?:environment-)?[0-9a-f]{16}$/;

export const projectFolder = join(import.meta.dirname, 'project');
export const readmePath = join(root, 'src/sdk/python/README.md');

export function wheel(): PackageFile {
  const [file] = packers.python(sourcesIn(root));
  return file as PackageFile;
}

/**
 * The Python of a virtual environment with the wheel, its dependencies and mypy. It is cached for the same
 * wheel and the same list of files, from which the others come.
 */
export async function pythonWithSdk(python: string): Promise<string> {
  const { path: name, content } = wheel();
  const version = await run(python, ['-c', 'import sys; print(sys.executable, sys.version)']);
  const files = await fromTheList(python);
  const description = [createHash('sha256').update(content).digest('hex'), version, ...files].join('\n');
  const place = await kept('sdk-python/environment', description, (folder) =>
    install(python, folder, { name, content }, files),
  );
  const now = new Date();
  utimesSync(place, now, now);
  removeOldest(dirname(place));
  return join(place, 'bin/python');
}

/** Each change of the wheel makes an environment of a hundred megabytes. */
function removeOldest(cacheFolder: string): void {
  const folders = readdirSync(cacheFolder)
    .filter((name) => ENVIRONMENT.test(name))
    .map((name) => join(cacheFolder, name))
    .map((folder) => ({ folder, usedAt: statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.usedAt - one.usedAt);
  for (const { folder } of folders.slice(KEPT_ENVIRONMENTS)) {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function install(
  python: string,
  folder: string,
  wheel: { name: string; content: Uint8Array },
  files: readonly string[],
): Promise<void> {
  const file = join(folder, wheel.name);
  await run(python, ['-m', 'venv', folder]);
  writeFileSync(file, wheel.content);
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
  await run(join(folder, 'bin/python'), ['-m', 'pip', 'install', ...quiet, ...files, file, 'mypy'], {
    timeout: INSTALL_LIMIT_MS,
  });
  rmSync(file);
}
