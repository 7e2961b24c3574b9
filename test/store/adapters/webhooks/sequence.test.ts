import { expect, test } from '@jest/globals';
import { updateUser } from '../../../../src/domain/platform/people/user-updates.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import type { Database } from '../../../../src/store/database.js';
import { databaseUnderTest, describeEachDatabase } from '../../../support/databases.js';
import { queryPlansOf } from '../../query-plans.js';
import { invitedAlone } from '../platform/people.js';

const NOON = Date.UTC(2036, 5, 30, 12);
const HOUR_MS = 3_600_000;

/** A node whose clock stands still. */
function nodeAt(database: Database, now: number) {
  const { run } = platformUnitOfWork({ ...database, clock: () => now });
  return (userId: string, firstName: string) => run((changes) => updateUser(changes, { userId, firstName }));
}

async function sequencesOf({ reader }: Database, entityId: string): Promise<[string, number][]> {
  const rows = await reader
    .selectFrom('events')
    .where('entity_id', '=', entityId)
    .where('type', '=', 'user.updated')
    .orderBy('seq')
    .select(['data', 'sequence'])
    .execute();
  return rows.map(({ data, sequence }) => [JSON.parse(data).firstName, sequence]);
}

describeEachDatabase('the sequence of an event', (under) => {
  test('tells which of two events of one millisecond is newer', async () => {
    const database = await under.openMigrated();
    const user = await invitedAlone(database, {});
    const rename = nodeAt(database, NOON);
    for (const name of ['a', 'b', 'c']) {
      await rename(user.id, name);
    }
    expect(await sequencesOf(database, user.id)).toEqual([
      ['a', NOON],
      ['b', NOON + 1],
      ['c', NOON + 2],
    ]);
  });

  test('follows the order of changes on nodes whose clocks differ', async () => {
    const place = await under.newPlace();
    const database = await under.openMigrated(place);
    const user = await invitedAlone(database, {});
    const another = under.kind === 'SQLite' ? database : await under.open(place);
    const [early, late] = [nodeAt(database, NOON), nodeAt(another, NOON + HOUR_MS)];
    await late(user.id, 'a');
    await early(user.id, 'b');
    await late(user.id, 'c');
    const sequences = (await sequencesOf(database, user.id)).map(([, sequence]) => sequence);
    expect(sequences).toEqual([NOON + HOUR_MS, NOON + HOUR_MS + 1, NOON + HOUR_MS + 2]);
  });

  test('is the same whatever other entities do, so it discloses nothing of them', async () => {
    const database = await under.openMigrated();
    const [one, other] = [await invitedAlone(database, {}), await invitedAlone(database, {})];
    const rename = nodeAt(database, NOON);
    await rename(one.id, 'a');
    await rename(other.id, 'a');
    expect(await sequencesOf(database, one.id)).toEqual([['a', NOON]]);
    expect(await sequencesOf(database, other.id)).toEqual([['a', NOON]]);
  });

  test('still grows after earlier events were purged', async () => {
    const database = await under.openMigrated();
    const user = await invitedAlone(database, {});
    await nodeAt(database, NOON)(user.id, 'a');
    await database.write((writer) => writer.deleteFrom('events').execute());
    await nodeAt(database, NOON + HOUR_MS)(user.id, 'b');
    expect(await sequencesOf(database, user.id)).toEqual([['b', NOON + HOUR_MS]]);
  });

  test('of parallel changes is the order of their commits, without a tie', async () => {
    const place = await under.newPlace();
    const database = await under.openMigrated(place);
    const user = await invitedAlone(database, {});
    const another = under.kind === 'SQLite' ? database : await under.open(place);
    const nodes = [nodeAt(database, NOON), nodeAt(another, NOON)];
    const names = Array.from({ length: 12 }, (_, index) => `name ${index}`);
    await Promise.all(names.map((name, index) => nodes[index % 2]?.(user.id, name)));

    const written = await sequencesOf(database, user.id);
    const newest = written.reduce((one, other) => (other[1] > one[1] ? other : one));
    const stored = await database.reader.selectFrom('users').where('id', '=', user.id).selectAll().execute();
    expect(stored).toMatchObject([{ first_name: newest[0] }]);
    expect(written.map(([, sequence]) => sequence)).toEqual(names.map((_, index) => NOON + index));
  });
});

const onSqlite = databaseUnderTest('SQLite');

test('the last event of an entity is found by an index', async () => {
  const plans = await queryPlansOf(onSqlite, async (database) => {
    const user = await invitedAlone(database, {});
    await nodeAt(database, NOON)(user.id, 'a');
  });
  expect(plans.filter((plan) => plan.includes(' events '))).toContain(
    'SEARCH events USING COVERING INDEX events_by_entity (entity_id=? AND sequence>?)',
  );
});
