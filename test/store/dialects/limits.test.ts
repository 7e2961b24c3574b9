import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { databaseUnderTest } from '../../support/databases.js';

describe('a limit on SQLite', () => {
  const under = databaseUnderTest('SQLite');

  test('is an expression, because SQLite prepares a statement with a bare placeholder again at each run', async () => {
    const { reader } = await under.openMigrated();
    const built = reader.selectFrom('instances').select('id').limit(2);
    const raw = sql`select id from instances limit ${2}`;
    expect(built.compile()).toMatchObject({
      sql: 'select "id" from "instances" limit +?',
      parameters: [2],
    });
    expect(raw.compile(reader)).toMatchObject({
      sql: 'select id from instances limit +?',
      parameters: [2],
    });
  });

  test('still bounds the rows', async () => {
    const { reader } = await under.openMigrated();
    const { rows } = await sql`select value from json_each('[1,2,3]') limit ${2}`.execute(reader);
    expect(rows).toEqual([{ value: 1 }, { value: 2 }]);
  });
});
