import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { manifestOf } from '../../src/codegen/manifest.js';
import { compareFolders } from '../../src/codegen/verify.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

const newDirectory = temporaryDirectories();
let scratch: string;
const present = () => join(scratch, 'present');
const expected = () => join(scratch, 'expected');

beforeEach(async () => {
  scratch = newDirectory();
  for (const dir of [present(), expected()]) {
    await mkdir(join(dir, 'deep/er'), { recursive: true });
    await writeFile(join(dir, 'a.ts'), 'export const a = 1;\n');
    await writeFile(join(dir, 'deep/er/b.ts'), 'export const b = 2;\n');
  }
});

test('folders with the same files are the same', async () => {
  expect(await compareFolders(present(), expected())).toEqual([]);
});

test('an edited file is named', async () => {
  await writeFile(join(present(), 'deep/er/b.ts'), 'export const b = 3;\n');
  expect(await compareFolders(present(), expected())).toEqual(['differs  deep/er/b.ts']);
});

test('a stray file is named', async () => {
  await writeFile(join(present(), 'deep/orphan.ts'), '');
  expect(await compareFolders(present(), expected())).toEqual(['stray    deep/orphan.ts']);
});

test('a missing file is named', async () => {
  await rm(join(present(), 'a.ts'));
  expect(await compareFolders(present(), expected())).toEqual(['missing  a.ts']);
});

test('the manifest lists every file with its hash, and changes with each of them', async () => {
  const before = await manifestOf(present());
  expect(
    before
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  ')[1]),
  ).toEqual(['a.ts', 'deep/er/b.ts']);
  await writeFile(join(present(), 'a.ts'), 'export const a = 9;\n');
  expect(await manifestOf(present())).not.toBe(before);
});
