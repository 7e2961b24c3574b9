import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { callCounts } from '../../../src/store/adapters/call-counts.js';
import { databaseUnderTest } from '../../support/databases.js';
import { withPostgres } from '../moves/rig.js';

const under = databaseUnderTest('PostgreSQL');

test('a count that is older than its window is now ends, although an earlier setting gave it more time', async () => {
  const database = await under.openMigrated();
  const counts = callCounts(database);
  const add = async (addition: { added: number; ageMs: number; windowMs: number }) => {
    const totals = await counts?.add([{ subject: 'a', ...addition }]);
    return totals?.map(({ used }) => Number(used));
  };
  expect(await add({ added: 50, ageMs: 500_000, windowMs: 600_000 })).toEqual([50]);
  expect(await add({ added: 3, ageMs: 0, windowMs: 590_000 })).toEqual([53]);
  expect(await add({ added: 1, ageMs: 0, windowMs: 60_000 })).toEqual([1]);
});

test.each(['repeatable read', 'serializable'])(
  'domains add to one count at once, where the default isolation of the database is %s',
  async (isolation) => {
    const place = await under.newPlace();
    const { databaseUrl = '' } = place;
    await withPostgres(databaseUrl, (client) =>
      client.query(
        `alter database ${client.escapeIdentifier(new URL(databaseUrl).pathname.slice(1))} set default_transaction_isolation = '${isolation}'`,
      ),
    );
    const counts = [];
    for (let node = 0; node < 3; node += 1) {
      counts.push(callCounts(await under.open(place)));
    }
    const addition = { subject: 'a', added: 1, ageMs: 0, windowMs: 60_000 };
    const adding = counts.map(async (count) => {
      for (let time = 0; time < 50; time += 1) {
        await count?.add([addition]);
      }
    });
    const ended = await Promise.allSettled(adding);
    expect(ended.map(({ status }) => status)).toEqual(Array(3).fill('fulfilled'));
    const { rows } = await sql`select used from call_counts`.execute((await under.open(place)).reader);
    expect(rows).toEqual([{ used: 150 }]);
  },
);
