import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package.js';
import { kept } from './kept.js';
import { run } from './kept-programs.js';

/** The frameworks, generators and judges of all tests, and what the SDK depends on, each with its hashes. */
const LIST = join(packageRoot, '.ci/python-tools.txt');
const QUIET = ['--quiet', '--disable-pip-version-check', '--no-input'];

/** The Python of an environment with all of the list: one, because each costs ten seconds and 100 MB. */
export async function pythonWithTools(python: string): Promise<string> {
  return join(await environment(python), 'bin/python');
}

/** Options of `pip install`, which then takes only files of the list. */
export async function fromTheList(python: string): Promise<string[]> {
  return ['--no-index', '--find-links', join(await environment(python), 'files')];
}

async function environment(python: string): Promise<string> {
  const version = await run(python, ['--version']);
  return kept('python-tools', `${version}\n${readFileSync(LIST, 'utf8')}`, async (staged) => {
    await run(python, ['-m', 'venv', staged]);
    const files = join(staged, 'files');
    const pip = (...args: string[]) => run(join(staged, 'bin/python'), ['-m', 'pip', ...args, ...QUIET]);
    const all = ['--no-deps', '--require-hashes', '--requirement', LIST];
    await pip('download', ...all, '--only-binary', ':all:', '--dest', files);
    await pip('install', ...all, '--no-index', '--find-links', files);
  });
}
