import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { openDatabase } from '../../../src/store/copies/open-copy.js';
import type { Reader } from '../../../src/store/database.js';
import { reading } from '../../../src/store/recorded.js';
import { databaseUnderTest } from '../../support/databases.js';

const under = databaseUnderTest('PostgreSQL');

test('a time limit that operators set for statements does not end those of a command on PostgreSQL', async () => {
  const place = await under.newPlace();
  const { databaseUrl = '' } = place;
  const { patient } = await under.open(place);
  const name = sql.id(new URL(databaseUrl).pathname.slice(1));
  await sql`alter database ${name} set statement_timeout = '20s'`.execute(patient);
  const limitOf = async (reader: Reader) => {
    const { rows } = await sql`select current_setting('statement_timeout') as statement`.execute(reader);
    return rows;
  };

  expect(await reading({ databaseUrl }, limitOf)).toEqual([{ statement: '0' }]);
  const opened = await openDatabase(place);
  try {
    expect(await limitOf(opened.reader)).toEqual([{ statement: '0' }]);
    expect(await limitOf(opened.patient)).toEqual([{ statement: '0' }]);
  } finally {
    await opened.close();
  }
});
