import { describe, expect, test } from '@jest/globals';
import { MOST_CLOSED_AT_ONCE } from '../../../../src/domain/webhooks/subscriptions/rows.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';
import { platformUnitOfWork } from '../../../../src/store/adapters/platform/unit-of-work.js';
import { subscriptionDeliveryRows } from '../../../../src/store/adapters/webhooks/subscriptions/deliveries.js';
import { subscriptionRows } from '../../../../src/store/adapters/webhooks/subscriptions/rows.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { sendingNode, sendingRig } from './sending/rig.js';
import { newConnection } from './subscriptions/rig.js';

describeEachDatabase('an event that is recorded', (under) => {
  test('has one delivery for each subscription that matches, made with it', async () => {
    const rig = await sendingRig(under);
    const all = await rig.subscribe();
    const users = await rig.subscribe({ event_types: '["client.created","user.*"]' });
    const client = await rig.subscribe({ client_ids: JSON.stringify([rig.connection.clientId]) });
    await rig.subscribe({ event_types: '["worker.updated"]' });
    await rig.subscribe({ client_ids: JSON.stringify([newPublicId('ClientId')]) });
    await rig.subscribe({ status: 'DELETED', deleted_at: 5 });
    await rig.happen();
    const deliveries = await rig.deliveries();
    expect(deliveries.map(({ subscription_id }) => subscription_id).sort()).toEqual(
      [all, users, client].sort(),
    );
    const [event] = await rig.database.reader.selectFrom('events').selectAll().execute();
    for (const delivery of deliveries) {
      expect(delivery).toMatchObject({
        ...{ seq: expect.any(Number), event_seq: event?.seq },
        ...{ id: expect.stringMatching(/^whd_[0-9A-Za-z]{22}$/), event_id: event?.id, status: 'PENDING' },
        ...{ subscription_id: expect.any(String), event_type: 'user.updated', origin: 'EVENT' },
        ...{ attempts_begun: 0, attempt_started_at: null, lease_until: null, next_attempt_at: null },
        ...{ retry_batch_id: null, created_at: rig.clock.now(), ended_at: null },
      });
    }
  });

  test('goes to no subscription of another instance, nor of a connection that is not set up', async () => {
    const rig = await sendingRig(under);
    const elsewhere = await newConnection(rig.database);
    const unfinished = await newConnection(rig.database, { configured_at: null });
    const other = sendingNode(rig.database, elsewhere);
    const mine = await rig.subscribe();
    const theirs = await other.subscribe();
    await rig.subscribe({ instance_integration_id: unfinished.id });
    await rig.happen();
    expect((await rig.deliveries()).map(({ subscription_id }) => subscription_id)).toEqual([mine]);
    await other.happen();
    expect(new Set((await rig.deliveries()).map(({ subscription_id }) => subscription_id))).toEqual(
      new Set([mine, theirs]),
    );
  });

  test('is held for a disabled subscription, and wakes no sender', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe({ status: 'DISABLED', disabled_reason: 'OPERATOR', disabled_at: 5 });
    await rig.happen();
    expect(await rig.deliveries()).toMatchObject([{ status: 'HELD', attempts_begun: 0, ended_at: null }]);
    expect(rig.deliveriesDue.count).toBe(0);
    expect((await rig.claim()).deliveries).toEqual([]);
  });

  test('wakes waiting claims once it is committed, and not when it is rolled back', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    const failing = rig.platform.run(async (changes) => {
      await changes.recordEvent(someEvent(rig.connection));
      throw new Error('changed its mind');
    });
    await expect(failing).rejects.toThrow('changed its mind');
    expect(rig.deliveriesDue.count).toBe(0);
    await rig.platform.run(async (changes) => {
      await changes.recordEvent(someEvent(rig.connection));
      await changes.recordEvent(someEvent(rig.connection));
      expect(rig.deliveriesDue.count).toBe(0);
    });
    expect(rig.deliveriesDue.count).toBe(1);
    expect(await rig.deliveries()).toHaveLength(2);
  });

  test('comes after those before it, by their numbers', async () => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    const names: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      rig.clock.advance(1);
      names.push(`Number ${index}`);
      await rig.happen({ name: `Number ${index}` });
    }
    const inOrder = await rig.database.reader.selectFrom('events').orderBy('seq').select('data').execute();
    expect(inOrder.map(({ data }) => JSON.parse(data).fullName)).toEqual(names);
    expect((await rig.claim()).bodies.map(({ body }) => JSON.parse(String(body)).data.fullName)).toEqual(
      names,
    );
  });

  test.each([1, 2, 3, 63, 64, 65, 150])('has all its deliveries with %i subscriptions', async (count) => {
    const rig = await sendingRig(under);
    const ids = await Promise.all(Array.from({ length: count }, () => rig.subscribe()));
    await rig.happen();
    const deliveries = await rig.deliveries();
    expect(new Set(deliveries.map(({ id }) => id)).size).toBe(count);
    expect(deliveries.map(({ subscription_id }) => subscription_id).sort()).toEqual(ids.sort());
  });

  test('is never left pending when the subscription is disabled concurrently', async () => {
    const place = await under.newPlace();
    const database = await under.openMigrated(place);
    const connection = await newConnection(database);
    const rig = sendingNode(database, connection);
    const subscriptions = await Promise.all(Array.from({ length: 5 }, () => rig.subscribe()));
    const events = Array.from({ length: 40 }, () => rig.happen());
    const disabling = subscriptions.map((id) =>
      database.write(async (writer) => {
        await subscriptionRows(writer).findLocked(id);
        await writer
          .updateTable('subscriptions')
          .set({ status: 'DISABLED', disabled_reason: 'OPERATOR', disabled_at: 5 })
          .where('id', '=', id)
          .execute();
        await subscriptionDeliveryRows(writer).holdPending(id, MOST_CLOSED_AT_ONCE);
      }),
    );
    await Promise.all([...events, ...disabling]);
    const deliveries = await rig.deliveries();
    expect(deliveries).toHaveLength(200);
    expect(deliveries.filter(({ status }) => status !== 'HELD')).toEqual([]);
  });
});

describeEachDatabase('the body of a delivery', (under) => {
  test.each([
    'Mira Castellan',
    '{instanceIntegrationId}',
    'links {instanceIntegrationId} "self": "/v1/{instanceIntegrationId}"',
    '\\"{instanceIntegrationId}\\u2028é🐎',
  ])('is exact, and names the receiver only in its own link, for a person called %j', async (name) => {
    const rig = await sendingRig(under);
    await rig.subscribe();
    const other = await newConnection(rig.database);
    await rig.subscribe({ instance_integration_id: other.id });
    await rig.happen({ name });
    const event = await rig.database.reader.selectFrom('events').selectAll().executeTakeFirstOrThrow();
    const { bodies, deliveries } = await rig.claim();
    expect(deliveries.map(({ body }) => body).sort()).toEqual([0, 1]);
    const stored = JSON.parse(event.data) as { userId: string; fullName: string };
    expect(stored.fullName).toBe(name);
    const expected = [rig.connection.id, other.id].map((receiver) =>
      JSON.stringify({
        id: event.id,
        type: 'user.updated',
        specVersion: 1,
        dataVersion: 1,
        occurredAt: new Date(rig.clock.now()).toISOString(),
        sequence: rig.clock.now(),
        entity: { type: 'user', id: stored.userId },
        data: {
          userId: stored.userId,
          fullName: name,
          links: {
            self: `/v1/instance-integrations/${receiver}/clients/${rig.connection.clientId}/users/${stored.userId}`,
          },
        },
      }),
    );
    expect(bodies.map(({ body }) => body.toString()).sort()).toEqual(expected.sort());
    expect(bodies.map(({ eventId, eventType }) => ({ eventId, eventType }))).toEqual(
      Array(2).fill({ eventId: event.id, eventType: 'user.updated' }),
    );
  });
});

describe('a write that records no event', () => {
  describeEachDatabase('wakes nobody', (under) => {
    test('who waits for deliveries', async () => {
      const database = await under.openMigrated();
      let woken = 0;
      const { run } = platformUnitOfWork(
        { ...database, clock: Date.now },
        {
          onDue: () => {
            woken += 1;
          },
        },
      );
      await run(async ({ touch }) => touch(newPublicId('InstanceId')));
      expect(woken).toBe(0);
    });
  });
});

function someEvent({ instanceId, clientId }: { instanceId: string; clientId: string }) {
  const userId = newPublicId('UserId');
  const data = { userId, links: { self: '/v1/instance-integrations/{instanceIntegrationId}' } };
  return { type: 'user.updated', instanceId, clientId, entity: { type: 'user', id: userId }, data } as never;
}
