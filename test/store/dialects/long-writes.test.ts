import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { keptStatement } from '../../../src/store/adapters/statements/kept-statement.js';
import { lock } from '../../../src/store/adapters/unit-of-work.js';
import { databaseUnderTest } from '../../support/databases.js';

/** Takes many times as long as a turn of the event loop may. */
const MOST_STATEMENTS = 100_000;

const LONGER_THAN_A_TURN_MS = 30;

const refused = keptStatement(
  (_, { id }: { id: string }) => sql`insert into data_versions (subject_id, version) values (${id}, null)`,
);

function busyFor(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; ) {
    // As statements of SQLite are.
  }
}

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

  test('leaves none of them to the next write when it fails while one waits for its turn', async () => {
    const database = await under.openMigrated();
    const failing = database.write(async (writer) => {
      await lock(writer, ['cli_1']);
      busyFor(LONGER_THAN_A_TURN_MS);
      await Promise.all([refused(writer, { id: 'cli_2' }), lock(writer, ['cli_3'])]);
    });
    const next = database.write((writer) => lock(writer, ['cli_4']));
    await expect(failing).rejects.toThrow('NOT NULL');
    await next;
    const rows = await database.reader.selectFrom('data_versions').select('subject_id').execute();
    expect(rows).toEqual([{ subject_id: 'cli_4' }]);
  });
});
