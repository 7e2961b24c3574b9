import { describe, expect, test } from '@jest/globals';
import { changedOne, keptStatement } from '../../../../src/store/adapters/statements/kept-statement.js';
import type { Database } from '../../../../src/store/database.js';
import type { Schema } from '../../../../src/store/schema.js';
import { databaseUnderTest, describeEachDatabase } from '../../../support/databases.js';

type Link = Omit<Schema['sessions'], keyof typeof CONSTANT>;

const CONSTANT = { account_id: null, last_seen_at: 9 };

/** With a new statement in each test, and the number of its builds. */
function statements() {
  let built = 0;
  const insertion = keptStatement((db, row: Link) => {
    built += 1;
    return db.insertInto('sessions').values({ ...row, ...CONSTANT });
  });
  const ending = keptStatement((db, { session, at }: { session: string; at: number | null }) =>
    db.updateTable('sessions').set({ authenticated_at: at }).where('began_as', '=', session),
  );
  const bySession = keptStatement((db, { session }: { session: string }) =>
    db.selectFrom('sessions').where('began_as', '=', session).orderBy('token_hash').selectAll(),
  );
  return { insertion, ending, bySession, timesBuilt: () => built };
}

const row = (token_hash: string, fields: Partial<Link> = {}): Link => ({
  ...{ id: token_hash, token_hash, began_as: 'one', expires_at: 1, authenticated_at: null, contexts: null },
  ...fields,
});

describeEachDatabase('a kept statement', (under) => {
  test('is built once and takes other values each time', async () => {
    const { insertion, bySession, timesBuilt } = statements();
    const database = await under.openMigrated();
    const rows = [
      row('a', { authenticated_at: 5 }),
      row('b', { expires_at: 2 }),
      row('c', { began_as: 'two' }),
    ];
    for (const each of rows) {
      await database.write((writer) => insertion(writer, each));
    }
    expect(timesBuilt()).toBe(1);
    const of = async (session: string) => (await bySession(database.reader, { session })).rows;
    await expect(of('one')).resolves.toEqual([
      { ...rows[0], ...CONSTANT },
      { ...rows[1], ...CONSTANT },
    ]);
    await expect(of('two')).resolves.toEqual([{ ...rows[2], ...CONSTANT }]);
    await expect(of('three')).resolves.toEqual([]);
  });

  test('says whether it changed one row', async () => {
    const { insertion, ending } = statements();
    const database = await under.openMigrated();
    for (const hash of ['a', 'b']) {
      await database.write((writer) => insertion(writer, row(hash)));
    }
    await database.write((writer) => insertion(writer, row('c', { began_as: 'two' })));
    const changed = async (session: string, at: number | null) =>
      changedOne(await database.write((writer) => ending(writer, { session, at })));
    await expect(changed('two', 7)).resolves.toBe(true);
    await expect(changed('two', null)).resolves.toBe(true);
    await expect(changed('three', 7)).resolves.toBe(false);
    await expect(changed('one', 7)).resolves.toBe(false);
  });
});

describe('a kept statement of one process', () => {
  const kinds = [databaseUnderTest('SQLite'), databaseUnderTest('PostgreSQL')];

  test('is specific to each database and its SQL', async () => {
    const { insertion, bySession, timesBuilt } = statements();
    const databases: Database[] = [];
    for (const under of kinds) {
      databases.push(await under.openMigrated());
    }
    for (const [index, hash] of ['a', 'b', 'c'].entries()) {
      for (const database of databases) {
        await database.write((writer) => insertion(writer, row(hash, { expires_at: index })));
      }
    }
    expect(timesBuilt()).toBe(2);
    const [first, second] = await Promise.all(
      databases.map(async ({ reader }) => (await bySession(reader, { session: 'one' })).rows),
    );
    expect(first).toHaveLength(3);
    expect(first).toEqual(second);
  });
});
