import fs, { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { openSqlite } from '../../../src/store/dialects/sqlite.js';
import { StoreError } from '../../../src/store/store-error.js';
import { databaseUnderTest } from '../../support/databases.js';
import { spoilTable } from '../../support/sqlite/spoilt-table.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { refusalOf } from './refusal-of.js';

describe('a SQLite file', () => {
  const directory = temporaryDirectories();
  const under = databaseUnderTest('SQLite');

  test('whose directory cannot be made for lack of room is refused for now', async () => {
    const failing = jest.spyOn(fs, 'mkdirSync').mockImplementation(() => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    });
    syncBuiltinESMExports();
    try {
      const dataDir = '/var/lib/full';
      expect((await refusalOf({ dataDir, environment: 'demo' })).mayPass).toBe(true);
    } finally {
      failing.mockRestore();
      syncBuiltinESMExports();
    }
  });

  test('that cannot be made is refused with the path', async () => {
    const file = join(directory(), 'a-file');
    writeFileSync(file, '');
    const { message } = await refusalOf({ dataDir: join(file, 'data'), environment: 'demo' });
    expect(message).toContain(join(file, 'data'));
  });

  test('that is a directory is refused with the path', async () => {
    const dataDir = directory();
    mkdirSync(join(dataDir, 'integration.db'));
    expect((await refusalOf({ dataDir, environment: 'demo' })).message).toContain('integration.db');
  });

  test.each<{ title: string; breakIt: (content: Buffer) => Buffer | string }>([
    { title: 'something else altogether', breakIt: () => 'This is not a database. '.repeat(100) },
    { title: 'damaged after its first bytes', breakIt: (content) => damaged(content, 100) },
    { title: 'cut off', breakIt: (content) => content.subarray(0, 5_000) },
  ])('that is $title is refused and left as it is', async ({ breakIt }) => {
    const dataDir = directory();
    const file = join(dataDir, 'integration.db');
    await (await under.openStore({ dataDir })).close();
    expect(readdirSync(dataDir)).toEqual(['integration.db']);
    writeFileSync(file, breakIt(readFileSync(file)));

    await refusalOf({ dataDir, environment: 'demo' });
  });

  test('that is refused is closed again: a start may be repeated many times', () => {
    const file = join(directory(), 'integration.db');
    writeFileSync(file, 'This is not a database. '.repeat(100));
    const openFiles = () => readdirSync('/dev/fd').length;
    const before = openFiles();
    expect(() => openSqlite(file)).toThrow(StoreError);
    expect(openFiles()).toBe(before);
  });

  test('with a damaged table that the start reads is refused for good, with the reason', async () => {
    const place = await under.newPlace();
    spoilTable(join(place.dataDir, 'integration.db'), 'environment');
    const { message, mayPass } = await refusalOf({ ...place, environment: 'live' });
    expect(message).toBe('The database is damaged: database disk image is malformed.');
    expect(mayPass).toBe(false);
  });
});

function damaged(content: Buffer, from: number): Buffer {
  return Buffer.from(content).fill(0xa5, from);
}
