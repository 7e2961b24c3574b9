import { describe, expect, test } from '@jest/globals';
import { lock } from '../../../src/store/adapters/unit-of-work.js';
import { databaseUnderTest } from '../../support/databases.js';

/** Takes many times as long as a turn of the event loop may. */
const MOST_STATEMENTS = 100_000;

describe('a write of very many statements on SQLite', () => {
  const under = databaseUnderTest('SQLite');

  test('lets others have turns, who read what was there before', async () => {
    const database = await under.openMigrated();
    const versions = () => database.reader.selectFrom('data_versions').selectAll().execute();
    let seen: object[] | undefined;
    let statements = 0;
    await database.write(async (writer) => {
      setImmediate(async () => {
        seen = await versions();
      });
      for (; seen === undefined && statements < MOST_STATEMENTS; statements += 1) {
        await lock(writer, ['cli_1']);
      }
    });
    expect(statements).toBeLessThan(MOST_STATEMENTS);
    expect(seen).toEqual([]);
    expect(await versions()).toMatchObject([{ subject_id: 'cli_1' }]);
  });
});
