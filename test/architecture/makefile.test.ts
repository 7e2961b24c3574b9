import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { packageRoot } from '../../src/config/package.js';

const textOf = (file: string) => readFileSync(join(packageRoot, file), 'utf8');

/** The rules that make has read, as if another make had called it. */
function rulesWith(...variables: string[]): string {
  const env = { PATH: process.env.PATH, MAKELEVEL: '1' };
  const options = { cwd: packageRoot, env, encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
  return execFileSync('make', ['--print-data-base', '--dry-run', 'help', ...variables], options);
}

test('steps take turns where another make calls them too, except those that run together by intent', () => {
  const [, together = ''] = /^TOGETHER = .*-j2 (\S+)$/m.exec(textOf('Makefile')) ?? [];
  expect(rulesWith()).toMatch(/^\.NOTPARALLEL:/m);
  expect(rulesWith(together)).not.toMatch(/^\.NOTPARALLEL:/m);
});

test('while code is developed, only what is compiled restarts the service, not what the check of types writes', () => {
  const watched = [...textOf('Makefile').matchAll(/--watch-path=(\S+)/g)].map(([, folder]) => folder);
  const { tsBuildInfoFile } = JSON.parse(textOf('tsconfig.json')).compilerOptions;
  expect(watched).toEqual(['dist/src', 'dist/lib']);
  expect(watched.filter((folder) => tsBuildInfoFile.startsWith(`${folder}/`))).toEqual([]);
});
