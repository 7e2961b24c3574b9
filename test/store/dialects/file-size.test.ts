import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import type { Database } from '../../../src/store/database.js';
import { databaseUnderTest } from '../../support/databases.js';
import { CREATED_AT } from '../rows.js';

const MIB = 1_024 * 1_024;

async function write(database: Database, prefix: string, rows: number, bytes: number): Promise<void> {
  for (let row = 0; row < rows; row += 1) {
    const key = `${prefix} ${row}`;
    const values = { owner_id: 'tok', method: 'm', key, request_hash: 'hash', created_at: CREATED_AT };
    const response = 'x'.repeat(bytes);
    await database.write((writer) =>
      writer
        .insertInto('idempotency_keys')
        .values({ ...values, response })
        .execute(),
    );
  }
}

async function sizeOf(database: Database) {
  const size = await database.size();
  if (!size) {
    throw new Error('The size of the files is unknown.');
  }
  return size;
}

describe('the files of SQLite', () => {
  const under = databaseUnderTest('SQLite');

  test('keep their size when rows are removed, and take the next rows without growing', async () => {
    const database = await under.openMigrated();
    await write(database, 'old', 30, MIB / 10);
    await database.write((writer) => writer.deleteFrom('idempotency_keys').execute());
    const emptied = await sizeOf(database);
    expect(emptied.freeBytes).toBeGreaterThan(2 * MIB);
    await write(database, 'new', 20, MIB / 10);
    const filled = await sizeOf(database);
    expect(filled.databaseBytes).toBeLessThanOrEqual(Math.max(emptied.databaseBytes, 4 * MIB));
    expect(filled.freeBytes).toBeLessThan(emptied.freeBytes - MIB);
  });

  test('cut the log that grew during a long read, when it begins anew', async () => {
    const place = await under.newPlace();
    const database = await under.openMigrated(place);
    await write(database, 'first', 1, 1);
    const reading = new Sqlite(join(place.dataDir, 'integration.db'), { readonly: true });
    try {
      reading.exec('begin');
      reading.prepare('select count(*) from idempotency_keys').get();
      await write(database, 'long', 14, 5 * MIB);
      expect((await sizeOf(database)).logBytes).toBeGreaterThan(65 * MIB);
    } finally {
      reading.close();
    }
    await write(database, 'after', 3, 1);
    expect((await sizeOf(database)).logBytes).toBeLessThanOrEqual(64 * MIB);
  });
});

describe('PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');

  test('has monitoring of its own for its size', async () => {
    const database = await under.openMigrated();
    await expect(database.size()).resolves.toBeUndefined();
  });
});
