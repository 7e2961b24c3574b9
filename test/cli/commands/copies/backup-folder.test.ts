import fs, { readdirSync, readFileSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { writeNewFile } from '../../../../src/cli/commands/copies/backup-folder.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';

const directory = temporaryDirectories();

afterEach(() => {
  jest.restoreAllMocks();
  syncBuiltinESMExports();
});

test('a file system without links gets the file too, and keeps one that is there', () => {
  jest.spyOn(fs, 'linkSync').mockImplementation(() => {
    throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' });
  });
  syncBuiltinESMExports();
  const path = join(directory(), 'valid.jsonl');
  writeNewFile(path, 'first');
  expect(() => writeNewFile(path, 'second')).toThrow(
    `${path} already exists. The command does not overwrite it; choose another path.`,
  );
  expect(readFileSync(path, 'utf8')).toBe('first');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(path))).toEqual(['valid.jsonl']);
});
