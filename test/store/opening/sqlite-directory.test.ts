import { chmodSync, linkSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { stage, unstage } from '../../../src/files/staged.js';
import { openStore } from '../../../src/store/store.js';
import { databaseUnderTest } from '../../support/databases.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { refusalOf } from './refusal-of.js';

const isRoot = process.getuid?.() === 0;

describe('a SQLite file', () => {
  const directory = temporaryDirectories();
  const under = databaseUnderTest('SQLite');
  const openAndClose = async (dataDir: string, alone = true) =>
    (await openStore({ dataDir, environment: 'live', alone })).close();
  /** A restore was killed when the database had got its name. */
  const newKilledRestore = async () => {
    const { dataDir } = await under.newPlace();
    const left = join(dataDir, 'restoring');
    await openAndClose(dataDir);
    mkdirSync(left);
    linkSync(join(dataDir, 'integration.db'), join(left, 'integration.db'));
    return { dataDir, left };
  };

  test('is readable by its owner only, as is the directory that the service made for it', async () => {
    const dataDir = join(directory(), 'made', 'for', 'it');
    await under.openStore({ dataDir });
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    for (const suffix of ['', '-wal', '-shm']) {
      expect(statSync(join(dataDir, `integration.db${suffix}`)).mode & 0o777).toBe(0o600);
    }
  });

  test('that is opened alone is refused to others who would be alone, until it is closed', async () => {
    const dataDir = directory();
    const first = await openStore({ dataDir, environment: 'demo', alone: true });
    const { message, mayPass } = await refusalOf({ dataDir, environment: 'demo', alone: true });
    expect(message).toContain(`Another domain already runs on ${dataDir}.`);
    expect(mayPass).toBe(false);
    await first.close();
    await (await openStore({ dataDir, environment: 'demo', alone: true })).close();
  });

  test('loses what a restore left that was killed when the database had got its name', async () => {
    const { dataDir } = await newKilledRestore();
    await openAndClose(dataDir, false);
    expect(readdirSync(dataDir)).toContain('restoring');
    await openAndClose(dataDir);
    expect(readdirSync(dataDir).sort()).toEqual(['domain.lock', 'integration.db']);
  });

  test('loses files that killed commands left in the directory', async () => {
    const { dataDir } = await under.newPlace();
    const staged = stage(join(dataDir, '.doctor'));
    unstage(staged);
    writeFileSync(staged, '');
    await openAndClose(dataDir);
    expect(readdirSync(dataDir).sort()).toEqual(['domain.lock', 'integration.db']);
  });

  (isRoot ? test.skip : test)('opens beside what such a restore left and it cannot remove', async () => {
    const { dataDir, left } = await newKilledRestore();
    chmodSync(left, 0);
    try {
      await openAndClose(dataDir);
      expect(readdirSync(dataDir)).toContain('restoring');
    } finally {
      chmodSync(left, 0o700);
    }
  });

  test('leaves the mode of a directory that was there as its owner set it', async () => {
    const dataDir = directory();
    chmodSync(dataDir, 0o755);
    await under.openStore({ dataDir });
    expect(statSync(dataDir).mode & 0o777).toBe(0o755);
  });
});
