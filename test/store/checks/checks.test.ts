import { expect, test } from '@jest/globals';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import { openReader } from '../../../src/store/recorded.js';
import { type DatabaseUnderTest, describeEachDatabase } from '../../support/databases.js';
import { sendingNode } from '../adapters/webhooks/sending/rig.js';
import { newConnection } from '../adapters/webhooks/subscriptions/rig.js';
import { inspect } from './inspect.js';

const HOUR_MS = 3_600_000;

/** A sound database: subscriptions of all, of users, and one changed after the event; an event of a user. */
async function soundDatabase(under: DatabaseUnderTest) {
  const place = await under.newPlace();
  const database = await under.openMigrated(place);
  const connection = await newConnection(database, { updated_at: 1 });
  const node = sendingNode(database, connection);
  const all = await node.subscribe();
  await node.subscribe({ event_types: '["user.*"]' });
  await node.subscribe({ event_types: '["worker.*"]' });
  await node.subscribe({ client_ids: JSON.stringify([newPublicId('ClientId')]) });
  await node.happen();
  await node.subscribe({ updated_at: node.clock.now() });
  const settings = { now: node.clock.now() + 1, eventsMs: HOUR_MS };
  const answer = async (key: string, response: string | null) => {
    const row = { owner_id: 'tok', method: '/M', key, request_hash: 'h', response, created_at: 1 };
    await database.write((writer) => writer.insertInto('idempotency_keys').values(row).execute());
  };
  return { place, node, all, settings, database, connection, answer };
}

describeEachDatabase('the checks of a database', (under) => {
  test('find nothing in a sound one', async () => {
    const { database, settings, answer, connection } = await soundDatabase(under);
    await answer('k', Buffer.from(`\n\u001a${connection.clientId}2`).toString('base64'));
    const inspections = await inspect(database.reader, settings);
    expect(inspections.map(({ name, count }) => [name, count])).toEqual([
      ['events-without-deliveries', 0],
      ['keys-without-answers', 0],
      ['answers-of-nothing', 0],
    ]);
  });

  test('name each event that a subscription should have received and was not sent', async () => {
    const { database, settings, node, all } = await soundDatabase(under);
    const [event] = await database.reader.selectFrom('events').select('id').execute();
    await database.write((writer) =>
      writer.deleteFrom('deliveries').where('subscription_id', '=', all).execute(),
    );
    const [found] = await inspect(database.reader, settings);
    expect(found).toMatchObject({ count: 1, examples: [`${event?.id} (user.updated) for ${all}`] });

    // What is about to be purged may have lost them to that.
    for (const age of [HOUR_MS + 1, HOUR_MS - 60_000]) {
      const later = { ...settings, now: node.clock.now() + age };
      expect((await inspect(database.reader, later))[0]).toMatchObject({ count: 0 });
    }
  });

  test('name each idempotency key without an answer, and each answer that names what does not exist', async () => {
    const { database, settings, answer } = await soundDatabase(under);
    const missing = newPublicId('UserId');
    await answer('half', null);
    await answer('lost', Buffer.from(`\n\u001a${missing}2`).toString('base64'));
    const [, unanswered, ofNothing] = await inspect(database.reader, settings);
    expect(unanswered).toMatchObject({ count: 1, examples: ['/M half'] });
    expect(ofNothing).toMatchObject({ count: 1, examples: [`${missing} in the answer of /M lost`] });
  });

  test('count all that they find and show the first', async () => {
    const { database, settings, answer } = await soundDatabase(under);
    for (let index = 10; index < 30; index += 1) {
      await answer(`half-${index}`, null);
    }
    const [, unanswered] = await inspect(database.reader, settings);
    expect(unanswered?.count).toBe(20);
    expect(unanswered?.examples).toHaveLength(10);
    expect(unanswered?.examples[0]).toBe('/M half-10');
  });

  test('read a database that is in use, and stop when their time is over', async () => {
    const { place, settings, answer } = await soundDatabase(under);
    await answer('half', null);
    const { reader, close } = await openReader(place);
    try {
      expect(await inspect(reader, settings)).toHaveLength(3);
      const [events, , ofNothing] = await inspect(reader, { ...settings, endsAt: 0 });
      expect(events).toMatchObject({
        count: 0,
        detail: 'The time of the check was enough for 0 events; --thorough reads all.',
      });
      expect(ofNothing).toMatchObject({ detail: expect.stringContaining('enough for 1 keys') });
    } finally {
      await close();
    }
  });
});
