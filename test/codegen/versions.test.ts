import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { documents, generatedDir, root, version } from '../../src/codegen/layout.js';
import { readBundle } from '../../src/codegen/steps/bundles.js';
import { goModule } from '../../src/sdk/packaging/go-module.js';
import { sourcesIn, textOf } from '../../src/sdk/packaging/sources.js';

test.each(documents)('the contract of %s has the version of the package', async (name) => {
  expect((await readBundle(generatedDir, name)).info.version).toBe(version);
});

test('the Go module has the version and the day of a release in the changelog', () => {
  const info = goModule(sourcesIn(root)).proxy.find(({ path }) => path.endsWith('.info'));
  const { Version, Time } = JSON.parse(info ? textOf(info) : '{}');
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  expect(changelog).toContain(`\n## ${Version.slice(1)} (${Time.slice(0, 10)})\n`);
});
