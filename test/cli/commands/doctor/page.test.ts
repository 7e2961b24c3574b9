import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checks } from '../../../../src/cli/commands/doctor/checks.js';
import { LIMITS } from '../../../../src/cli/commands/doctor/database-place.js';
import { packageRoot } from '../../../../src/config/package.js';
import { secretSettings } from '../../../../src/config/settings.js';
import { sharedIntegration } from '../../typed.js';

const page = readFileSync(join(packageRoot, 'src/docs/operate/check-the-installation.md'), 'utf8');

test('the page about the doctor lists every check with its severity, in order', () => {
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| .* \| (warning|error) \|$/gm)];
  expect(rows.map(([, name, severity]) => [name, severity])).toEqual(
    checks.map(({ name, severity }) => [name, severity]),
  );
});

test('the page and the help name the limit of a statement that --thorough keeps', async () => {
  const limit = `On PostgreSQL, a statement still ends after ${LIMITS.server.statementMs / 1_000} s`;
  expect(page).toContain(limit);
  expect((await sharedIntegration(['doctor', '--help'])).stdout).toContain(limit);
});

test('the page names every setting that may come from a file', () => {
  for (const name of secretSettings) {
    expect(page).toContain(`\`${name}_FILE\``);
  }
});

test.each([...page.matchAll(/^integration ([a-z -]+)$/gm)].map(([, args = '']) => args.split(' ')))(
  'its command `integration %s %s` exists',
  async (...args) => {
    expect(await sharedIntegration([...args, '--help'])).toMatchObject({ code: 0, stderr: '' });
  },
);
