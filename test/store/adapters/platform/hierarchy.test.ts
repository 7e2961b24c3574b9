import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { limitedTo } from '../../../../src/domain/platform/instance-limit.js';
import { getUnit, updateUnit } from '../../../../src/domain/platform/organization/units.js';
import { updateUser } from '../../../../src/domain/platform/people/user-updates.js';
import { getUser } from '../../../../src/domain/platform/people/users.js';
import type { Changes } from '../../../../src/domain/platform/unit-of-work.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { type DatabaseUnderTest, describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { newUnits } from './organization.js';
import { invite, newPlatform, type Platform } from './people.js';

const MOST = 1_000;

const KINDS = {
  users: {
    parentColumn: 'manager_id',
    top: async (platform: Platform, firstName = 'Ada') =>
      (await invite(platform, platform.client.id, { firstName, withoutManager: true })).id as string,
    move: (changes: Changes, id: string, parentId: string): Promise<unknown> =>
      updateUser(changes, { userId: id, managerUserId: parentId }),
    rename: (changes: Changes, id: string, parentId: string): Promise<unknown> =>
      updateUser(changes, { userId: id, managerUserId: parentId, firstName: 'Eve' }),
    read: async (changes: Changes, id: string) => (await getUser(changes, id)).firstName,
    refusal: 'fewer than 1000 users can be above a new manager',
  },
  units: {
    parentColumn: 'parent_id',
    top: async (platform: Platform, name = 'Department') =>
      (await newUnits(platform, name, ['Finance'])).units[0]?.id as string,
    move: (changes: Changes, id: string, parentId: string): Promise<unknown> =>
      updateUnit(changes, { unitId: id, parentUnitId: parentId }),
    rename: (changes: Changes, id: string, parentId: string): Promise<unknown> =>
      updateUnit(changes, { unitId: id, parentUnitId: parentId, name: 'Eve' }),
    read: async (changes: Changes, id: string) => (await getUnit(changes, id)).name,
    refusal: 'fewer than 1000 units can be above a new parent',
  },
};

type Kind = keyof typeof KINDS;

/** A row of this kind, and so many copies of it, each below the one before. */
async function chain(under: DatabaseUnderTest, kind: Kind, copies: number) {
  const platform = await newPlatform(under);
  const { parentColumn, top } = KINDS[kind];
  const topId = await top(platform);
  const [row = {}] = await platform.database.reader.selectFrom(kind).selectAll().execute();
  const numbered = (number: ReturnType<typeof sql>) =>
    sql`substr(id, 1, length(id) - 6) || (${number} + 100000)`;
  const values = Object.keys(row).map((column) => {
    if (column === 'id') {
      return numbered(sql`number`);
    }
    const above = sql`case when number = 1 then id else ${numbered(sql`number - 1`)} end`;
    return column === parentColumn ? above : sql.ref(column);
  });
  await platform.database.write((writer) =>
    sql`
      insert into ${sql.table(kind)} (${sql.join(Object.keys(row).map((column) => sql.ref(column)))})
      with recursive numbers(number) as (
        select 1 union all select number + 1 from numbers where number < ${sql.lit(copies)}
      )
      select ${sql.join(values)} from ${sql.table(kind)}, numbers
    `.execute(writer),
  );
  const aside = await top(platform, 'Aside');
  const { instance, database } = platform;
  return {
    ...{ aside, topId, all: platform.run },
    limited: limitedTo(instance.id, platformUnitOfWork(database)).run,
    /** The copy with this number; the first one is below the top. */
    copy: (number: number) => `${topId.slice(0, -6)}${number + 100_000}`,
  };
}

describeEachDatabase('a row that moves below one of a long chain', (under) => {
  const kinds = Object.keys(KINDS) as Kind[];

  test.each(kinds)('(%s) does so with a token of one instance where 1,000 are searched', async (kind) => {
    const { move } = KINDS[kind];
    const { aside, copy, limited, topId } = await chain(under, kind, MOST);
    await limited((changes) => move(changes, aside, copy(MOST - 1)));
    const ring = limited((changes) => move(changes, topId, copy(MOST - 1)));
    expect(await refusalOf(ring)).toMatchObject({ code: 'INVALID_REQUEST' });
  });

  test.each(kinds)('(%s) is refused with such a token where more would be searched', async (kind) => {
    const { move, refusal } = KINDS[kind];
    const { aside, copy, limited, topId } = await chain(under, kind, MOST + 1);
    for (const [id, number] of [
      [aside, MOST],
      [topId, MOST + 1],
    ] as const) {
      const moving = limited((changes) => move(changes, id, copy(number)));
      await expect(moving).rejects.toMatchObject({
        code: 'ERROR_CODE_TRANSITION_REFUSED',
        message: expect.stringContaining(refusal),
      });
    }
  });

  test.each(kinds)('(%s) does so with a token of all instances, but never below itself', async (kind) => {
    const { move } = KINDS[kind];
    const { aside, all, copy, topId } = await chain(under, kind, 2 * MOST);
    await all((changes) => move(changes, aside, copy(2 * MOST)));
    const ring = all((changes) => move(changes, topId, copy(2 * MOST)));
    expect(await refusalOf(ring)).toMatchObject({ code: 'INVALID_REQUEST' });
  });

  test.each(kinds)('(%s) may be there already: it is read and changed as others are', async (kind) => {
    const { move, read, rename } = KINDS[kind];
    const { aside, copy, limited } = await chain(under, kind, 2 * MOST);
    const id = copy(2 * MOST);
    await limited((changes) => rename(changes, id, copy(2 * MOST - 1)));
    expect(await limited((changes) => read(changes, id))).toBe('Eve');
    await limited((changes) => move(changes, id, aside));
  });
});
