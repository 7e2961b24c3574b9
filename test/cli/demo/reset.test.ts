import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { packageRoot } from '../../../src/config/package.js';
import { claimDirectory } from '../../../src/store/file-lock.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

const newDirectory = temporaryDirectories();
const TSX = join(packageRoot, 'node_modules/tsx/dist/loader.mjs');

function reset(folder: string) {
  const script = join(packageRoot, 'src/cli/demo/reset.ts');
  const { NODE_OPTIONS: _, ...env } = process.env;
  const args = ['--import', TSX, script];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('a demo that runs is not deleted, and afterwards it is', () => {
  const folder = newDirectory();
  const [data, keys] = [join(folder, '.data/demo'), join(folder, '.data/demo.keys')] as const;
  for (const each of [data, keys]) {
    mkdirSync(each, { recursive: true });
  }
  const claim = claimDirectory(data);
  expect(reset(folder)).toEqual({
    status: 1,
    stdout: '',
    stderr: 'The demo is running. Stop it first: press Ctrl-C where `make run` is.\n',
  });
  expect([data, keys].map(existsSync)).toEqual([true, true]);
  claim.release();
  const gone = 'The demo environment is gone. `make run` makes a new one.\n';
  expect(reset(folder)).toEqual({ status: 0, stdout: gone, stderr: '' });
  expect([data, keys].map(existsSync)).toEqual([false, false]);
  expect(reset(folder)).toEqual({ status: 0, stdout: gone, stderr: '' });
});
