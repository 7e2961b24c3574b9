import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { eventSchemas, payloadSchemaOf } from '../../../../../generated/asyncapi/schemas.js';
import { eventBody } from '../../../../../src/domain/webhooks/event-body.js';
import { EVENT_TYPES } from '../../../../../src/domain/webhooks/subscriptions/rules.js';
import { disableSubscription } from '../../../../../src/domain/webhooks/subscriptions/status.js';
import { testSubscription } from '../../../../../src/domain/webhooks/subscriptions/test-event.js';
import { describeEachDatabase } from '../../../../support/databases.js';
import { refusal } from '../../operator/rig.js';
import { deliveriesIn, subscriptionRig } from './rig.js';

const ajv = new Ajv({ strict: false, schemas: { events: eventSchemas } });
formats.default(ajv);

describeEachDatabase('a test event', (under) => {
  test('goes to the one subscription, is marked as a test, and wakes senders', async () => {
    const { create, run, database, clock, woken, audited, connection } = await subscriptionRig(under);
    const { subscription } = await create({ eventTypes: ['worker.*', 'user.updated'] });
    await create();
    clock.advance(5);
    const delivery = await run((changes) => testSubscription(changes, { subscriptionId: subscription.id }));

    expect(delivery).toMatchObject({
      subscriptionId: subscription.id,
      instanceIntegrationId: connection.id,
      eventType: 'user.updated',
      origin: 'TEST',
      status: 'PENDING',
      attemptsBegun: 0,
      createdAt: clock.now(),
    });
    expect(await deliveriesIn(database)).toEqual(
      new Map([
        [delivery.id, expect.objectContaining({ origin: 'TEST', status: 'PENDING', next_attempt_at: null })],
      ]),
    );
    const events = await database.reader.selectFrom('events').selectAll().execute();
    expect(events).toMatchObject([
      {
        id: delivery.eventId,
        type: 'user.updated',
        is_test: 1,
        instance_id: connection.instanceId,
        occurred_at: clock.now(),
      },
    ]);
    expect(woken).toEqual([clock.now()]);
    expect((await audited()).at(-1)).toEqual({
      type: 'subscription.tested',
      subject_id: subscription.id,
      event_type: 'user.updated',
      delivery_id: delivery.id,
    });
  });

  test('of every type has a body as the contract says, with the link of its receiver', async () => {
    const { create, run, rows, connection } = await subscriptionRig(under);
    const { subscription } = await create();
    for (const type of EVENT_TYPES) {
      const { eventId } = await run((changes) =>
        testSubscription(changes, { subscriptionId: subscription.id, eventType: type }),
      );
      const event = await rows.eventLog.find(eventId);
      const body = JSON.parse(eventBody(event as NonNullable<typeof event>, connection.id));

      expect([type, ajv.validate(`events${payloadSchemaOf[type]}`, body)]).toEqual([type, true]);
      expect(body.data.links.self).toContain(`/instance-integrations/${connection.id}/clients/`);
      expect(body.test).toBe(true);
      expect(Object.keys(body.data).at(-1)).toBe('links');
    }
  });

  test.each([
    ['a type that it does not receive', { eventType: 'user.created' }, 'INVALID_REQUEST', ['event_type']],
    ['a type that there is not', { eventType: 'user.deleted' }, 'INVALID_REQUEST', ['event_type']],
    ['a pattern', { eventType: 'worker.*' }, 'INVALID_REQUEST', ['event_type']],
    ['an unknown subscription', { subscriptionId: 'whs_missing' }, 'SUBSCRIPTION_NOT_FOUND', []],
  ])('is not sent for %s', async (_, asked, code, paths) => {
    const { create, run, database, woken } = await subscriptionRig(under);
    const { subscription } = await create({ eventTypes: ['worker.*'] });
    const refused = run((changes) =>
      testSubscription(changes, { subscriptionId: subscription.id, ...asked }),
    );
    await expect(refusal(refused)).resolves.toEqual({ code, paths });
    await expect(deliveriesIn(database)).resolves.toEqual(new Map());
    expect(woken).toEqual([]);
  });

  test('is not sent to a disabled subscription or over a connection that is not set up', async () => {
    const { create, run, database, connection, woken } = await subscriptionRig(under);
    const { subscription } = await create();
    const asked = { subscriptionId: subscription.id };
    const sendTest = () => refusal(run((changes) => testSubscription(changes, asked)));
    await database.write((writer) =>
      writer
        .updateTable('instance_integrations')
        .set({ configured_at: null })
        .where('id', '=', connection.id)
        .execute(),
    );
    await expect(sendTest()).resolves.toMatchObject({ code: 'INSTANCE_INTEGRATION_NOT_CONFIGURED' });
    await run((changes) => disableSubscription(changes, asked));
    await expect(sendTest()).resolves.toEqual({ code: 'SUBSCRIPTION_DISABLED', paths: [] });
    expect(woken).toEqual([]);
  });
});
