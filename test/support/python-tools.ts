import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { packageRoot } from '../../src/config/package.js';
import { kept } from './kept.js';
import { run } from './kept-programs.js';

const PACKAGES = [
  'django==5.2.19',
  'fastapi==0.165.0',
  'flask==3.1.3',
  'mypy==2.4.1',
  'openapi-python-client==0.29.1',
  'standardwebhooks==1.1.0',
  'types-python-dateutil==2.9.0.20261116',
  'uvicorn==0.54.0',
];

/**
 * The Python of an environment with the frameworks, generators and judges of all tests, and with what the SDK
 * depends on: one, because each costs ten seconds and a hundred megabytes.
 */
export async function pythonWithTools(python: string): Promise<string> {
  const { project } = parse(readFileSync(join(packageRoot, 'src/sdk/python/pyproject.toml'), 'utf8'));
  const packages = [...PACKAGES, ...(project as { dependencies: string[] }).dependencies];
  const version = await run(python, ['--version']);
  const folder = await kept('python-tools', [version, ...packages].join(' '), async (staged) => {
    await run(python, ['-m', 'venv', staged]);
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
    await run(join(staged, 'bin/python'), ['-m', 'pip', 'install', ...quiet, ...packages]);
  });
  return join(folder, 'bin/python');
}
