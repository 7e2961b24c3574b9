import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { databaseUnderTest } from '../../support/databases.js';
import { queryPlansOf } from '../query-plans.js';

describe('a placeholder on SQLite', () => {
  const under = databaseUnderTest('SQLite');

  test('is an expression, because SQLite prepares a statement with a bare one again for a new value', async () => {
    const { reader } = await under.openMigrated();
    const built = reader.selectFrom('instances').select('id').where('name', '=', 'Acme').limit(2);
    const raw = sql`select id from instances where name in (${'Acme'}, ${'Nova'}) limit ${2}`;
    expect(built.compile()).toMatchObject({
      sql: 'select "id" from "instances" where "name" = +? limit +?',
      parameters: ['Acme', 2],
    });
    expect(raw.compile(reader)).toMatchObject({
      sql: 'select id from instances where name in (+?, +?) limit +?',
      parameters: ['Acme', 'Nova', 2],
    });
  });

  test.each([
    ['a text', '12'],
    ['a number', 12],
    ['a negative number', -12],
    ['a fraction', 0.5],
    ['bytes', Buffer.from('12')],
    ['null', null],
  ])('leaves %s as it is', async (_, value) => {
    const { reader } = await under.openMigrated();
    const { rows } = await sql`select ${value} as value`.execute(reader);
    expect(rows).toEqual([{ value }]);
  });

  test('does not match the condition of a partial index, which takes a literal', async () => {
    const plansOf = (status: unknown) =>
      queryPlansOf(under, ({ reader }) =>
        sql`
          select seq from deliveries
          where subscription_id = ${'whs_1'} and status = ${status} and next_attempt_at > ${1}
        `.execute(reader),
      );
    expect(await plansOf(sql.lit('PENDING'))).toEqual([expect.stringContaining('INDEX deliveries_later')]);
    expect(await plansOf('PENDING')).toEqual([expect.stringContaining('INDEX deliveries_by_subscription')]);
  });

  test('still bounds the rows', async () => {
    const { reader } = await under.openMigrated();
    const { rows } = await sql`select value from json_each('[1,2,3]') limit ${2}`.execute(reader);
    expect(rows).toEqual([{ value: 1 }, { value: 2 }]);
  });
});
