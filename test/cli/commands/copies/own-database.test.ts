import { expect, test } from '@jest/globals';
import { inDatabase } from '../../../../src/cli/commands/copies/own-database.js';
import { Unfinished } from '../../../../src/cli/commands/errors.js';
import { databaseUnderTest } from '../../../support/databases.js';

const under = databaseUnderTest('SQLite');

test('a write that the disk refuses fails with the words of the database', async () => {
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  const refused = inDatabase(await under.newPlace(), ({ write }) => write(() => Promise.reject(full)));
  await expect(refused).rejects.toBeInstanceOf(Unfinished);
  await expect(refused).rejects.toThrow(
    /^The database cannot be used at the moment: SQLITE_FULL: database or disk is full\.$/,
  );
});
