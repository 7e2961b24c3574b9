import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { packageRoot } from '../../src/config/package.js';

test('make renders the documentation again after an edit of any module that does it', async () => {
  const { output } = await cruise(['src/docs/main.ts'], {
    baseDir: packageRoot,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  });
  const modules = (output as ICruiseResult).modules.filter(({ coreModule }) => !coreModule);
  const known = execFileSync('make', ['-np', 'help'], { cwd: packageRoot, encoding: 'utf8' });
  const sources = /^DOCS_SOURCES := (.*)$/m.exec(known)?.[1]?.split(' ') ?? [];
  expect(modules.length).toBeGreaterThan(30);
  expect(modules.map(({ source }) => source).filter((source) => !sources.includes(source))).toEqual([]);
});
