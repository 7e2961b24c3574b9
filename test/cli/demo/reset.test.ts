import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { opsSocketOf, runDirOf } from '../../../src/cli/sockets.js';
import { packageRoot } from '../../../src/config/package.js';
import { claimDirectory, lockFile } from '../../../src/store/file-lock.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

const newDirectory = temporaryDirectories();
const TSX = join(packageRoot, 'node_modules/tsx/dist/loader.mjs');
const GONE = { status: 0, stdout: 'The demo environment is gone. `make run` makes a new one.\n', stderr: '' };

function reset(folder: string, settings = {}) {
  const script = join(packageRoot, 'src/cli/demo/reset.ts');
  const { NODE_OPTIONS: _, ...env }: NodeJS.ProcessEnv = { ...process.env, ...settings };
  const args = ['--import', TSX, script];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test.each([
  ['its domain', (data: string) => claimDirectory(data)],
  ['`serve`', (data: string) => lockFile(`${opsSocketOf(runDirOf({ DATA_DIR: data }), 'worker')}.lock`, '')],
])('a demo of which %s runs is not deleted, and afterwards it is', (_, claim) => {
  const folder = newDirectory();
  const [data, keys] = [join(folder, '.data/demo'), join(folder, '.data/demo.keys')] as const;
  mkdirSync(runDirOf({ DATA_DIR: data }), { recursive: true });
  mkdirSync(keys);
  const claimed = claim(data);
  expect(reset(folder)).toEqual({
    status: 1,
    stdout: '',
    stderr: 'The demo is running. Stop it first: press Ctrl-C where `make run` is.\n',
  });
  expect([data, keys].map(existsSync)).toEqual([true, true]);
  claimed.release();
  expect(reset(folder)).toEqual(GONE);
  expect([data, keys].map(existsSync)).toEqual([false, false]);
  expect(reset(folder)).toEqual(GONE);
});

test.each([
  ['DATA_DIR', '/elsewhere'],
  ['DATABASE_URL', 'postgres://localhost/demo'],
  ['DATABASE_URL_FILE', '/elsewhere/url'],
  ['SECRETS_KEY_FILE', '/elsewhere/secrets.key'],
])('where %s names the demo in use, no other one is deleted', (setting, value) => {
  const folder = newDirectory();
  const kept = [join(folder, '.data/demo'), join(folder, '.data/demo.keys')];
  for (const path of kept) {
    mkdirSync(path, { recursive: true });
  }
  expect(reset(folder, { [setting]: value })).toEqual({
    status: 1,
    stdout: '',
    stderr: `\`make demo-reset\` deletes only .data/demo and its key file, and ${setting} is set. Unset it, or delete the demo that it names yourself.\n`,
  });
  expect(kept.map(existsSync)).toEqual([true, true]);
  expect(reset(folder, { DATA_DIR: '.data/demo', [setting]: '' })).toEqual(GONE);
});
