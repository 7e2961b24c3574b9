import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { callCounts } from '../../../src/store/adapters/call-counts.js';
import { databaseUnderTest } from '../../support/databases.js';
import { withPostgres } from '../moves/rig.js';

const under = databaseUnderTest('PostgreSQL');

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
