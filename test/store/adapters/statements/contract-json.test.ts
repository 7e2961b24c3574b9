import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { contractJson } from '../../../../src/store/adapters/statements/contract-json.js';
import { camelCased } from '../../../../src/store/database.js';
import { describeEachDatabase } from '../../../support/databases.js';

interface Shape {
  plain: string | null;
  stored: string[];
  at: string;
  inner: { name: string };
  joined: { name: string } | null;
  list: { name: string }[];
}

/** PostgreSQL stores no NUL. */
const text = fc
  .string({ unit: 'binary' })
  .filter((value) => !value.includes('\0') && !/\p{Surrogate}/u.test(value));
const row = fc.record({
  plain: fc.option(text),
  stored: fc.array(text, { maxLength: 3 }),
  at: fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  }),
  inner: text,
  joined: fc.option(text),
  list: fc.array(text, { maxLength: 3 }),
});

describeEachDatabase('JSON of the contract', (under) => {
  test('is what JSON.stringify makes of the same values, byte for byte', async () => {
    const { reader } = await under.openMigrated();
    const db = camelCased(reader);
    const json = contractJson(db);
    const textOf = (value: string | null) => sql<string>`cast(${value} as text)`;
    await fc.assert(
      fc.asyncProperty(row, async ({ plain, stored, at, inner, joined, list }) => {
        const items = sql.join(
          list.map((name, index) => sql`select ${textOf(name)} as name, ${sql.lit(index)} as place`),
          sql` union all `,
        );
        const none = sql`select ${textOf(null)} as name, 0 as place where 1 = 0`;
        const built = json.object<Shape>({
          plain: textOf(plain),
          stored: json.stored(textOf(JSON.stringify(stored))),
          at: json.time(sql<number>`cast(${at.getTime()} as bigint)`),
          inner: json.object({ name: textOf(inner) }),
          joined: json.joined(textOf(joined), { name: textOf(joined) }),
          list: json.list(
            json.object({ name: sql<string>`items.name` }),
            sql`(${list.length > 0 ? items : none}) as items`,
            sql`items.place`,
          ),
        });
        const { json: found } = await db.selectNoFrom(json.text(built).as('json')).executeTakeFirstOrThrow();
        const named = (name: string) => ({ name });
        const expected: Shape = {
          ...{ plain, stored, at: at.toISOString(), inner: { name: inner } },
          ...{ joined: joined === null ? null : { name: joined }, list: list.map(named) },
        };
        expect(found).toBe(JSON.stringify(expected));
      }),
    );
  });
});
