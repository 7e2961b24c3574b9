import { existsSync } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { generate } from '../../src/codegen/generate.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

const newDirectory = temporaryDirectories();

test('generated files replace the earlier folder, with the mode of any other folder', async () => {
  const project = newDirectory();
  const [folder, other] = [join(project, 'generated'), join(project, 'other')];
  await Promise.all([mkdir(folder), mkdir(other)]);
  await writeFile(join(folder, 'obsolete.ts'), '');
  await generate((fresh) => writeFile(join(fresh, 'new.ts'), ''), folder);
  expect(await readdir(folder)).toEqual(['new.ts']);
  expect((await stat(folder)).mode).toBe((await stat(other)).mode);
  expect((await readdir(project)).sort()).toEqual(['generated', 'other']);
});

test('a failed generation leaves the folder as it was', async () => {
  const project = newDirectory();
  const folder = join(project, 'generated');
  await mkdir(folder);
  await writeFile(join(folder, 'kept.ts'), '');
  await expect(generate(() => Promise.reject(new Error('no Java')), folder)).rejects.toThrow('no Java');
  expect(existsSync(join(folder, 'kept.ts'))).toBe(true);
  expect(await readdir(project)).toEqual(['generated']);
});
