import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { packageRoot, packageVersion } from '../../../src/config/package.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

const newDirectory = temporaryDirectories();
const built = join(packageRoot, 'dist/sdk');

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

test('make build makes a package for each language', () => {
  const proxy = 'go-proxy/integration.example.com/sdk/@v';
  expect(filesIn(built)).toEqual([
    ...['list', 'info', 'mod', 'zip'].map((name) =>
      name === 'list' ? `${proxy}/list` : `${proxy}/v${packageVersion}.${name}`,
    ),
    `integration-service-sdk-${packageVersion}.tgz`,
    `integration-service-sdk-go-${packageVersion}.zip`,
    `integration_service_sdk-${packageVersion}-py3-none-any.whl`,
  ]);
});

test('packages made again, elsewhere and in another time zone, are the same bytes', () => {
  const again = join(newDirectory(), 'sdk');
  const env = { PATH: process.env.PATH, TZ: 'Pacific/Auckland', LANG: 'tr_TR.UTF-8' };
  execFileSync('node_modules/.bin/tsx', ['src/sdk/packaging/main.ts', again], { cwd: packageRoot, env });
  const names = filesIn(again);
  expect(names).toEqual(filesIn(built));
  const differing = names.filter(
    (name) => !readFileSync(join(again, name)).equals(readFileSync(join(built, name))),
  );
  expect(differing).toEqual([]);
});
