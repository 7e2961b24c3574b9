import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { unzipSync } from 'fflate';
import { tgz, zip } from '../../../src/sdk/packaging/archives.js';
import { byPath, textFile, textOf } from '../../../src/sdk/packaging/files.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

const newDirectory = temporaryDirectories();
const LONG_FOLDER = `package/${'f'.repeat(90)}`;
const FILES = [
  textFile('package/b.txt', 'two'),
  textFile('package/B.txt', 'one'),
  textFile('package/empty', ''),
  textFile(`${LONG_FOLDER}/${'n'.repeat(60)}.txt`, 'far down'),
  textFile('package/block', 'x'.repeat(512)),
];
const reversed = [...FILES].reverse();
const sorted = [...FILES].sort(byPath).map(({ path }) => path);

describe('a gzipped tar', () => {
  test('gives tar what was put in, names longer than a hundred characters too', () => {
    const folder = newDirectory();
    const archive = join(folder, 'a.tgz');
    writeFileSync(archive, tgz(FILES));
    const listed = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' });
    expect(listed.trim().split('\n')).toEqual(sorted);
    execFileSync('tar', ['-xzf', archive, '-C', folder]);
    for (const file of FILES) {
      expect(readFileSync(join(folder, file.path), 'utf8')).toBe(textOf(file));
    }
  });

  test('is the same bytes in whatever order the files come', () => {
    expect(Buffer.from(tgz(reversed)).equals(tgz(FILES))).toBe(true);
  });

  test.each([
    ['a name of 101 characters', `package/${'n'.repeat(101)}`],
    ['folders of 200 characters', `${'f'.repeat(199)}/name`],
  ])('refuses what its heads have no room for: %s', (_, path) => {
    expect(() => tgz([textFile(path, '')])).toThrow(`Too long for a tar archive: ${path}`);
  });
});

describe('a zip', () => {
  test('gives back what was put in', () => {
    const entries = Object.entries(unzipSync(zip(FILES)));
    expect(entries.map(([path]) => path)).toEqual(sorted);
    expect(entries.map(([, content]) => content.length)).toEqual(
      [...FILES].sort(byPath).map(({ content }) => content.length),
    );
  });

  test('is the same bytes in whatever order the files come', () => {
    expect(Buffer.from(zip(reversed)).equals(zip(FILES))).toBe(true);
  });
});
