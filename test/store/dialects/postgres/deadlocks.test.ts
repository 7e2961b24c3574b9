import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Writer } from '../../../../src/store/database.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { signalled } from '../../../support/signalled.js';

const under = databaseUnderTest('PostgreSQL');

test('of two writes that wait for each other in a circle, PostgreSQL ends one, which is made again', async () => {
  const { write } = await under.openMigrated();
  const lock = (writer: Writer, number: number) =>
    sql`select pg_advisory_xact_lock(${number})`.execute(writer);
  const [one, other] = [signalled(), signalled()];
  let tries = 0;
  await Promise.all([
    write(async (writer) => {
      tries += 1;
      await lock(writer, 1);
      one.tell();
      await other.told;
      await lock(writer, 2);
    }),
    write(async (writer) => {
      tries += 1;
      await lock(writer, 2);
      other.tell();
      await one.told;
      await lock(writer, 1);
    }),
  ]);
  expect(tries).toBe(3);
});
