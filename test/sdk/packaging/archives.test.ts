import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { unzipSync } from 'fflate';
import { npmArchive, zip } from '../../../src/sdk/packaging/archives.js';
import { byPath, textFile, textOf } from '../../../src/sdk/packaging/sources.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

const newDirectory = temporaryDirectories();
const FILES = [
  textFile('package.json', '{ "name": "@of/files", "version": "1.0.0", "scripts": { "prepack": "exit 1" } }'),
  textFile('dist/b.txt', 'two'),
  textFile('dist/B.txt', 'one'),
  textFile(`${'f'.repeat(90)}/${'n'.repeat(60)}.txt`, 'far down'),
];
const reversed = [...FILES].reverse();
const sorted = [...FILES].sort(byPath).map(({ path }) => path);

describe('an archive of npm', () => {
  test('gives tar what was put in, names longer than a hundred characters too', () => {
    const folder = newDirectory();
    const archive = join(folder, 'a.tgz');
    writeFileSync(archive, npmArchive(FILES));
    execFileSync('tar', ['-xzf', archive, '-C', folder]);
    for (const file of FILES) {
      expect(readFileSync(join(folder, 'package', file.path), 'utf8')).toBe(textOf(file));
    }
  });

  test('is the same bytes in whatever order the files come', () => {
    expect(Buffer.from(npmArchive(reversed)).equals(npmArchive(FILES))).toBe(true);
  });

  test('is the same bytes whatever the umask is', () => {
    const expected = npmArchive(FILES);
    const umask = process.umask(0o077);
    try {
      expect(Buffer.from(npmArchive(FILES)).equals(expected)).toBe(true);
    } finally {
      process.umask(umask);
    }
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
