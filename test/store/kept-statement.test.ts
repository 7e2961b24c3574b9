import { describe, expect, test } from '@jest/globals';
import { changedOne, keptStatement } from '../../src/store/adapters/kept-statement.js';
import type { Database } from '../../src/store/database.js';
import type { Schema } from '../../src/store/schema.js';
import { databaseUnderTest, describeEachDatabase } from '../support/databases.js';

type Link = Pick<Schema['interactions'], 'token_hash' | 'session_id' | 'expires_at' | 'finished_at'>;

/** With a statement of its own in each test, and how often its text was built. */
function statements() {
  let built = 0;
  const insertion = keptStatement((db, row: Link) => {
    built += 1;
    return db.insertInto('interactions').values({ ...row, request: 'same', progress: 'each time' });
  });
  const ending = keptStatement((db, { session, at }: { session: string; at: number | null }) =>
    db.updateTable('interactions').set({ finished_at: at }).where('session_id', '=', session),
  );
  const bySession = keptStatement((db, { session }: { session: string }) =>
    db.selectFrom('interactions').where('session_id', '=', session).orderBy('token_hash').selectAll(),
  );
  return { insertion, ending, bySession, timesBuilt: () => built };
}

const row = (token_hash: string, fields: Partial<Link> = {}): Link => ({
  ...{ token_hash, session_id: 'one', expires_at: 1, finished_at: null },
  ...fields,
});

describeEachDatabase('a kept statement', (under) => {
  test('is built once and takes other values each time', async () => {
    const { insertion, bySession, timesBuilt } = statements();
    const database = await under.openMigrated();
    const rows = [row('a', { finished_at: 5 }), row('b', { expires_at: 2 }), row('c', { session_id: 'two' })];
    for (const each of rows) {
      await database.write((writer) => insertion(writer, each));
    }
    expect(timesBuilt()).toBe(1);
    const constant = { request: 'same', progress: 'each time' };
    const of = async (session: string) => (await bySession(database.reader, { session })).rows;
    await expect(of('one')).resolves.toEqual([
      { ...rows[0], ...constant },
      { ...rows[1], ...constant },
    ]);
    await expect(of('two')).resolves.toEqual([{ ...rows[2], ...constant }]);
    await expect(of('three')).resolves.toEqual([]);
  });

  test('says whether it changed one row', async () => {
    const { insertion, ending } = statements();
    const database = await under.openMigrated();
    for (const hash of ['a', 'b']) {
      await database.write((writer) => insertion(writer, row(hash)));
    }
    await database.write((writer) => insertion(writer, row('c', { session_id: 'two' })));
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

  test('is each database’s own, whose words differ', async () => {
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
