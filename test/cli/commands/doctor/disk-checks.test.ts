import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  diskHasRoom,
  writeAheadLogIsShort,
  writesSucceed,
} from '../../../../src/cli/commands/doctor/disk-checks.js';
import { isUnclosed } from '../../../../src/store/data-directory.js';
import { openStore } from '../../../../src/store/store.js';
import { freePorts } from '../../../support/free-ports.js';
import { migratedSqliteFile } from '../../../support/sqlite/template.js';
import { doctorRig } from './rig.js';

const { directory, outcomeOf } = doctorRig();

describe('the disk', () => {
  test('has its free space and the size of the log measured', async () => {
    expect(await outcomeOf(diskHasRoom)).toMatchObject({ detail: expect.stringMatching(/GiB are free\.$/) });
    const noDatabase = { status: 'skipped', reason: 'there is no database' };
    expect(await outcomeOf(writeAheadLogIsShort)).toMatchObject(noDatabase);
    const DATA_DIR = directory();
    copyFileSync(await migratedSqliteFile(), join(DATA_DIR, 'integration.db'));
    expect(await outcomeOf(writeAheadLogIsShort, { DATA_DIR })).toMatchObject({
      status: 'ok',
      detail: '0 MiB.',
    });
    expect(await outcomeOf(diskHasRoom, { DATA_DIR: '/not/there' })).toMatchObject({ status: 'skipped' });
  });

  test('accepts a write while the service runs, and the write leaves no file', async () => {
    const dataDir = directory();
    const store = await openStore({ dataDir, environment: 'live' });
    try {
      const outcome = await outcomeOf(writesSucceed, { DATA_DIR: dataDir });
      expect(outcome).toMatchObject({ status: 'ok', detail: expect.stringMatching(/^It took \d+ ms\.$/) });
      await store.ping();
    } finally {
      await store.close();
    }
  });

  test('leaves the log as the service did, from which the next start sees whether it closed the file', async () => {
    const dataDir = directory();
    const store = await openStore({ dataDir, environment: 'live' });
    const killed = directory();
    for (const name of ['integration.db', 'integration.db-wal']) {
      copyFileSync(join(dataDir, name), join(killed, name));
    }
    await store.close();
    for (const [DATA_DIR, wasUnclosed] of [
      [dataDir, false],
      [killed, true],
    ] as const) {
      expect(isUnclosed(DATA_DIR)).toBe(wasUnclosed);
      expect(await outcomeOf(writesSucceed, { DATA_DIR })).toMatchObject({ status: 'ok' });
      expect(isUnclosed(DATA_DIR)).toBe(wasUnclosed);
    }
  });

  test('is not called writable where the database is a PostgreSQL that does not answer', async () => {
    const [port] = await freePorts(1);
    expect(
      await outcomeOf(writesSucceed, { DATABASE_URL: `postgres://integration@127.0.0.1:${port}/db` }),
    ).toMatchObject({ status: 'skipped', reason: 'the database cannot be read' });
  });

  test('that refuses a write is an error', async () => {
    const folder = join(directory(), 'data');
    mkdirSync(folder);
    // A name that is too long fails for every user.
    const long = { DATA_DIR: join(folder, 'x'.repeat(250)) };
    mkdirSync(long.DATA_DIR);
    const database = join(long.DATA_DIR, 'integration.db');
    writeFileSync(database, 'no database');
    expect(await outcomeOf(writesSucceed, { DATA_DIR: database })).toMatchObject({
      status: 'error',
      examples: [expect.stringContaining('cannot be written')],
    });
  });
});
