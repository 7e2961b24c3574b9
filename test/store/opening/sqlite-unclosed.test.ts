import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import type BetterSqlite3 from 'better-sqlite3';
import { sql } from 'kysely';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import { DATABASE_FILE } from '../../../src/store/data-directory.js';
import { openSqlite } from '../../../src/store/dialects/sqlite.js';
import { UnclosedLog } from '../../../src/store/dialects/unclosed-log.js';
import { openStore } from '../../../src/store/store.js';
import { databaseUnderTest } from '../../support/databases.js';
import { signalled } from '../../support/signalled.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { refusalOf } from './refusal-of.js';

describe('a SQLite file that was not closed', () => {
  const directory = temporaryDirectories();
  const under = databaseUnderTest('SQLite');
  /** A copy of its directory, from while the store was open. */
  const newUnclosed = async () => {
    const place = await under.newPlace();
    const store = await openStore({ ...place, environment: 'live' });
    const cut = directory();
    for (const name of [DATABASE_FILE, `${DATABASE_FILE}-wal`]) {
      copyFileSync(join(place.dataDir, name), join(cut, name));
    }
    await store.close();
    return cut;
  };

  test('has all its rows without its log before it is used, because a failed sync may have left a hole there', async () => {
    const [cut, synced] = [await newUnclosed(), directory()];
    const onLogKept = jest.fn();
    await under.openStore({ dataDir: cut }, 'live', { alone: true, onLogKept });
    expect(onLogKept).not.toHaveBeenCalled();
    copyFileSync(join(cut, DATABASE_FILE), join(synced, DATABASE_FILE));
    const { reader } = await under.open({ dataDir: synced });
    expect(await reader.selectFrom('environment').select('name').execute()).toEqual([{ name: 'live' }]);
    expect(await reader.selectFrom('change_lives').select('life').execute()).toHaveLength(1);
  });

  test('begins one more life, and none in a start whose checkpoint fails', async () => {
    const cut = await newUnclosed();
    const { pragma } = Sqlite.prototype;
    const failing = jest.spyOn(Sqlite.prototype, 'pragma').mockImplementation(function (
      this: BetterSqlite3.Database,
      ...given
    ) {
      if (given[0].startsWith('wal_checkpoint')) {
        throw Object.assign(new Error('The disk is full'), { code: 'SQLITE_FULL' });
      }
      return pragma.apply(this, given);
    });
    try {
      expect(await refusalOf({ dataDir: cut, environment: 'live', alone: true })).toMatchObject({
        ...{ message: 'The database cannot be used at the moment: The disk is full.', mayPass: true },
      });
    } finally {
      failing.mockRestore();
    }
    await under.openStore({ dataDir: cut }, 'live', { alone: true });
    const { reader } = await under.open({ dataDir: cut });
    expect(await reader.selectFrom('change_lives').select('life').execute()).toHaveLength(2);
  });

  test.each<{ title: string; readOn: (other: BetterSqlite3.Database) => void }>([
    { title: 'ends its read', readOn: () => undefined },
    {
      title: 'begins the log anew and reads that',
      readOn: (other) => {
        other.pragma('wal_checkpoint(PASSIVE)');
        other.exec('create table later (id integer); begin; select count(*) from environment');
      },
    },
  ])('has its rows without its log when a program that reads it $title', async ({ readOn }) => {
    const place = await under.newPlace();
    const [cut, synced] = [directory(), directory()];
    const file = join(cut, DATABASE_FILE);
    copyFileSync(join(place.dataDir, DATABASE_FILE), file);
    const other = new Sqlite(file);
    other.exec('begin; select count(*) from environment');
    const writing = openSqlite(file);
    await writing.write((writer) => sql`create table late (id integer)`.execute(writer));
    const ended = jest.spyOn(UnclosedLog.prototype, 'end');
    const said: boolean[] = [];
    const { told: isReplaced, tell } = signalled();
    const onLogKept = (isKept: boolean) => {
      said.push(isKept);
      if (!isKept) {
        tell();
      }
    };
    const open = () => under.openStore({ dataDir: cut }, 'live', { alone: true, onLogKept });
    await (await open()).close();
    expect(ended).toHaveBeenCalledTimes(1);
    await open();
    expect(said).toEqual([true, true]);
    other.exec('commit');
    readOn(other);
    await isReplaced;
    expect(said).toEqual([true, true, false]);
    ended.mockRestore();
    copyFileSync(file, join(synced, DATABASE_FILE));
    const { reader } = await under.open({ dataDir: synced });
    expect((await reader.introspection.getTables()).map(({ name }) => name)).toContain('late');
    other.close();
    await writing.close();
  });
});
