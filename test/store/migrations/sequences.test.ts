import { expect, test } from '@jest/globals';
import { type Kysely, Migrator } from 'kysely';
import { migrateToLatest } from '../../../src/store/migrate.js';
import { migrations } from '../../../src/store/migrations/index.js';
import { describeEachDatabase } from '../../support/databases.js';

// biome-ignore lint/suspicious/noExplicitAny: a schema of an earlier time.
type Earlier = Kysely<any>;

const event = (id: string, entity_id: string, occurred_at: number) => ({
  ...{ id, type: 'user.updated', occurred_at, instance_id: 'ins_1', client_id: 'cli_1' },
  ...{ entity_type: 'user', entity_id, data: '{"links":{}}' },
});

describeEachDatabase('events from before the sequence', (under) => {
  test('get one in the order of their recording and not before their time, for each entity apart', async () => {
    const database = await under.open(await under.newEmptyPlace());
    const earlier = database.patient as unknown as Earlier;
    const provider = { getMigrations: async () => migrations };
    await new Migrator({ db: earlier, provider }).migrateTo('0017-contract-emails');
    const events = [
      event('evt_1', 'usr_a', 100),
      event('evt_2', 'usr_b', 100),
      event('evt_3', 'usr_a', 100),
      event('evt_4', 'usr_a', 99),
      event('evt_5', 'usr_b', 900),
    ];
    for (const row of events) {
      await earlier.insertInto('events').values(row).execute();
    }

    await migrateToLatest(database.patient);

    const rows = await database.reader
      .selectFrom('events')
      .orderBy('seq')
      .select(['id', 'sequence'])
      .execute();
    expect(rows).toEqual([
      { id: 'evt_1', sequence: 100 },
      { id: 'evt_2', sequence: 100 },
      { id: 'evt_3', sequence: 101 },
      { id: 'evt_4', sequence: 102 },
      { id: 'evt_5', sequence: 900 },
    ]);
  });
});
