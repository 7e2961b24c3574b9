import { expect, test } from '@jest/globals';
import { type Kysely, Migrator } from 'kysely';
import { migrateToLatest } from '../../../src/store/migrate.js';
import { migrations } from '../../../src/store/migrations/index.js';
import { describeEachDatabase } from '../../support/databases.js';

// biome-ignore lint/suspicious/noExplicitAny: a schema of an earlier time.
type Earlier = Kysely<any>;

const event = (id: string, occurred_at: number) => ({
  ...{ id, type: 'user.updated', occurred_at, instance_id: 'ins_1', client_id: 'cli_1' },
  ...{ entity_type: 'user', entity_id: `usr_of_${id}`, data: '{"links":{}}', is_test: 0 },
});

const delivery = (id: string, event_id: string, status: string, row: object = {}) => ({
  ...{ id, event_id, status, subscription_id: 'whs_1', event_type: 'user.updated', origin: 'EVENT' },
  ...{ attempts_begun: 0, attempt_started_at: null, lease_until: null, next_attempt_at: null },
  ...{ retry_batch_id: null, created_at: 100, ended_at: null },
  ...row,
});

const attempt = (delivery_id: string, number: number) => ({
  ...{ delivery_id, number, started_at: 110 + number, ended_at: 120 + number, outcome: 'STATUS_REFUSED' },
  ...{ duration_ms: 7, http_status: 503, message: `Attempt ${number}.`, response_start: 'bm8=' },
});

describeEachDatabase('what was recorded while ids had an order', (under) => {
  async function broughtForward() {
    const database = await under.open(await under.newEmptyPlace());
    const earlier = database.patient as unknown as Earlier;
    await new Migrator({
      db: earlier,
      provider: { getMigrations: async () => migrations },
    }).migrateTo('0005-webhooks');
    return { database, earlier };
  }

  test('keeps its ids, its contents and its order, and what comes stands behind it', async () => {
    const { database, earlier } = await broughtForward();
    const events = [event('evt_b', 100), event('evt_a', 100), event('evt_z', 50)];
    const deliveries = [
      delivery('whd_2', 'evt_a', 'PENDING', { attempts_begun: 1, next_attempt_at: 900, retry_batch_id: 'b' }),
      delivery('whd_1', 'evt_z', 'DELIVERED', { attempts_begun: 2, ended_at: 140 }),
      delivery('whd_3', 'evt_b', 'HELD'),
    ];
    const attempts = [attempt('whd_2', 1), attempt('whd_1', 1), attempt('whd_1', 2)];
    await earlier.insertInto('events').values(events).execute();
    await earlier.insertInto('deliveries').values(deliveries).execute();
    await earlier.insertInto('delivery_attempts').values(attempts).execute();

    await migrateToLatest(database.patient);

    const { reader } = database;
    const eventRows = await reader.selectFrom('events').orderBy('seq').selectAll().execute();
    const [z, a, b] = [events[2], events[1], events[0]];
    expect(eventRows).toMatchObject([
      { seq: 1, ...z },
      { seq: 2, ...a },
      { seq: 3, ...b },
    ]);
    const [second, first, third] = deliveries;
    const deliveryRows = await reader.selectFrom('deliveries').orderBy('seq').selectAll().execute();
    expect(deliveryRows).toMatchObject([
      { seq: 1, event_seq: 1, ...first },
      { seq: 2, event_seq: 2, ...second },
      { seq: 3, event_seq: 3, ...third },
    ]);
    const attemptRows = await reader
      .selectFrom('delivery_attempts')
      .orderBy('delivery_seq')
      .orderBy('number')
      .selectAll()
      .execute();
    const rowOf = ({ delivery_id, ...row }: ReturnType<typeof attempt>, delivery_seq: number) => ({
      delivery_seq,
      ...row,
    });
    expect(attemptRows).toEqual([
      rowOf(attempt('whd_1', 1), 1),
      rowOf(attempt('whd_1', 2), 1),
      rowOf(attempt('whd_2', 1), 2),
    ]);

    const added = await database.write((writer) =>
      writer
        .insertInto('events')
        .values(event('evt_new', 200) as never)
        .returning('seq')
        .execute(),
    );
    expect(added).toEqual([{ seq: 4 }]);
    const again = database.write((writer) =>
      writer
        .insertInto('events')
        .values(event('evt_new', 201) as never)
        .execute(),
    );
    await expect(again).rejects.toMatchObject({ message: expect.stringMatching(/unique/i) });
  });

  test('may be nothing at all', async () => {
    const { database } = await broughtForward();
    await migrateToLatest(database.patient);
    const added = await database.write((writer) =>
      writer
        .insertInto('events')
        .values(event('evt_new', 200) as never)
        .returning('seq')
        .execute(),
    );
    expect(added).toEqual([{ seq: 1 }]);
  });
});
